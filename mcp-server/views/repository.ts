import { z } from 'zod';
import type { Agent, ForgeTrouble, RepositoryPlace, RepositorySettings } from '../../prisma/store.js';
import { named } from '../schema/answers.js';
import { troublesAnswer, wireTroubles } from './troubles.js';

/** A repository as its owner sees it. */
export const repositoryAnswer = z.looseObject({
  url: z.string().describe('Its address, as last known.'),
  forge: z.string(),
  linked: z.boolean().describe('Whether it is linked to you; a sole owner needs no link.'),
  automatic: z
    .looseObject({ recipe: z.string(), crew: z.array(named), barista: z.boolean(), label: z.string().nullable() })
    .nullable()
    .describe('The rooms that open by themselves; null: none do.'),
  post_as: z.string().nullable().describe("operator or reviewer; null: the reviewer's identity, where the server has one."),
  comment_instead: z.boolean(),
  troubles: troublesAnswer,
});

export type WireRepository = z.output<typeof repositoryAnswer>;

interface RepositoryFacts {
  readonly place: RepositoryPlace;
  readonly linked: boolean;
  readonly settings: RepositorySettings;
  /** The agents of the automatic rooms' crew that still live. */
  readonly crew: readonly Agent[];
  readonly troubles: readonly ForgeTrouble[];
  /** Epoch milliseconds. */
  readonly now: number;
}

export function repositoryView({ place, linked, settings, crew, troubles, now }: RepositoryFacts): WireRepository {
  const { automatic, postAs, commentInstead } = settings;
  return {
    url: place.url,
    forge: place.forge,
    linked,
    automatic: automatic && {
      recipe: automatic.recipe,
      crew: crew.map(({ id, name }) => ({ id, name })),
      barista: automatic.barista,
      label: automatic.label,
    },
    post_as: postAs,
    comment_instead: commentInstead,
    troubles: wireTroubles(troubles, now),
  };
}
