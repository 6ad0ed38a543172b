import { Refusal } from '../workflows/room/refusal.js';

const WHAT = {
  pull_request: 'There is no such pull request, or you may not open rooms on its repository.',
  repository: 'There is no such repository, or you may not open rooms on it.',
} as const;

/** What a call names a place on a forge by. */
export type AddressField = keyof typeof WHAT;

/** R11: the same whether it is not there or not this owner's to open, so that nobody can search for repositories. */
export function notReachable(field: AddressField): Refusal {
  return new Refusal(
    'not_found',
    WHAT[field],
    'Link the repository (barista repo link), or have the operator add its folder to BARISTA_LOCAL_REPOS.',
    field,
  );
}
