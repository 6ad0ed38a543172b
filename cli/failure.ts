/** Why a command failed, as the one line to print (exit code 1). */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}
