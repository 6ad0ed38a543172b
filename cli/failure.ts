/** Why a command failed, as the one line to print (exit code 1). */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** Called the wrong way (exit code 2). */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}
