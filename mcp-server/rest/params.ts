import { z } from 'zod';
import { handle } from '../schema/fields.js';

export const inRoom = z.strictObject({ slug: handle('The room.') });
export const none = z.strictObject({});
