/** Every workflow that a worker takes. */
export { delivery } from './delivery.js';
export { reviewRoom } from './review-room.js';
