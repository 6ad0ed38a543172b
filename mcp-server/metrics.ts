import { Counter, Gauge, Histogram, Registry } from 'prom-client';

type Outcome = 'ok' | 'refused';

/** What Prometheus is told of one server. Labels are tool and route names and statuses, never ids. */
export class Metrics {
  readonly registry = new Registry();
  private readonly toolSeconds = new Histogram({
    name: 'barista_tool_call_seconds',
    help: 'Time a tool call took, by tool and outcome.',
    labelNames: ['tool', 'outcome'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [this.registry],
  });
  private readonly requests = new Counter({
    name: 'barista_http_requests_total',
    help: 'HTTP requests answered, by route, method and status.',
    labelNames: ['route', 'method', 'status'],
    registers: [this.registry],
  });
  private readonly deliveries = new Counter({
    name: 'barista_deliveries_total',
    help: 'Deliveries of forges, by forge and by what they told of; `refused`: not signed with the secret, `not_kept`: sent back.',
    labelNames: ['forge', 'what'],
    registers: [this.registry],
  });
  private readonly waits = new Gauge({
    name: 'barista_waits',
    help: 'Callers waiting for messages just now.',
    registers: [this.registry],
  });

  constructor() {
    // Under the name that Prometheus' dashboards know.
    new Gauge({
      name: 'process_resident_memory_bytes',
      help: 'Memory this process holds.',
      registers: [this.registry],
      collect() {
        this.set(process.memoryUsage.rss());
      },
    });
  }

  /** Starts the clock of a tool call; call what it returns when the call is answered. */
  startTool(tool: string): (outcome: Outcome) => void {
    const end = this.toolSeconds.startTimer({ tool });
    return (outcome) => end({ outcome });
  }

  request(route: string, method: string, status: number): void {
    this.requests.inc({ route, method, status });
  }

  delivery(forge: string, what: string): void {
    this.deliveries.inc({ forge, what });
  }

  /** Counts a waiter; call what it returns when the wait is over. */
  startWait(): () => void {
    this.waits.inc();
    return () => this.waits.dec();
  }
}
