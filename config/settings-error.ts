/** A setting that stops the start; its message is the lines to print, one a wrong setting. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}
