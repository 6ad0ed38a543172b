import { z } from 'zod';

/** An http or https address. A name or password in it would stand in every message that names the address. */
export const webAddress = z
  .url({ protocol: /^https?$/ })
  .refine((url) => !URL.canParse(url) || (new URL(url).username === '' && new URL(url).password === ''));
