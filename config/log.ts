import { destination, pino, type Logger } from 'pino';

/** One log line a thing that happened, as JSON on stderr: stdout is for what was asked for. Keys never get into it. */
export function createLog(level: string): Logger {
  return pino(
    {
      level,
      redact: {
        paths: [
          'authorization',
          '*.authorization',
          'headers.authorization',
          'req.headers.authorization',
          'key',
          '*.key',
          'databaseUrl',
          '*.databaseUrl',
        ],
        censor: '[redacted]',
      },
    },
    destination({ fd: 2, sync: true }),
  );
}
