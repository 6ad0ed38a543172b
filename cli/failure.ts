import { ForgeError } from '../activities/forge/port.js';

/** Why a command failed, as the one line to print (exit code 1). */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** What a forge refuses, as the one line to print, followed by what it means here. @throws CommandFailed */
export async function inWords<T>(work: () => Promise<T>, meaning?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    throw new CommandFailed(meaning === undefined ? error.message : `${error.message} ${meaning}`);
  }
}
