import { afterAll, beforeAll, test } from 'vitest';
import { SkippedDeliveries } from '../support/skipped-deliveries.js';
import { keepHistory } from './keep.js';
import { DELIVERY_SHAPES } from './shapes.js';

let world: SkippedDeliveries;
beforeAll(async () => {
  world = await SkippedDeliveries.start();
});
afterAll(() => world.stop());

test.each(Object.entries(DELIVERY_SHAPES))('a delivery lives: %s', async (name, live) => {
  await world.reset();
  await keepHistory(name, await live(world));
});
