import { App } from '@octokit/app';
import { ForgeError, type GitHubPullRequestRef, type Identity, type LimitsHeard } from '../port.js';
import { waitingFor } from '../waiting.js';
import { roomsClient, SILENT, unthrottled, type ClientOptions, type Octokit } from './clients.js';
import { explained, failedOf, limitedUntil } from './failures.js';

/** A GitHub App and its private key (PEM). */
export interface AppIdentity {
  readonly id: number;
  readonly privateKey: string;
}

export interface AppOptions extends ClientOptions {
  readonly identity: AppIdentity;
  readonly role: Identity;
  readonly heard: LimitsHeard;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** A repository by its name. */
export type GitHubPlace = Pick<GitHubPullRequestRef, 'owner' | 'name'>;

/** Where an App may act, as GitHub last told it. */
export interface Installation {
  readonly id: number;
  /** Where its owner sets it up. */
  readonly settings: string;
  /** The name its comments and reviews stand under. */
  readonly login: string;
  readonly suspended: boolean;
  readonly readAt: number;
}

const INSTALLATION_MS = 10 * 60_000;
/** So long after a refusal for want of a permission the token is replaced, and so seldom while it is wanting. */
const RENEW_MS = 60_000;

/** One limit's clock. After it was named nothing is sent before it has run out. */
interface Gate {
  until: number;
  /** Limits without a time of their own, one after another. */
  inARow: number;
}

/**
 * One App on one GitHub: its installations, their tokens, its limits. Every call goes through {@link call}, which maps
 * each failure once. Tokens stay inside the client; nothing that is thrown or kept here holds one.
 */
export class GitHubApp {
  readonly id: number;
  readonly #app: App<{ Octokit: ReturnType<typeof roomsClient> }>;
  readonly #installations = new Map<string, Installation>();
  readonly #octokits = new Map<number, Octokit>();
  readonly #askers = new WeakMap<Octokit, Octokit>();
  readonly #gates = new Map<number, Gate>();
  /** Since when (epoch milliseconds) an installation's token lacks a permission. */
  readonly #lacking = new Map<number, number>();
  #slug: string | null = null;

  constructor(private readonly options: AppOptions) {
    const { identity } = options;
    this.id = identity.id;
    this.#app = new App({ appId: identity.id, privateKey: identity.privateKey, Octokit: roomsClient(options, identity.id), log: SILENT });
  }

  /** Reads or writes in the pull request's repository as its installation. @throws {ForgeError} */
  async call<T>(ref: GitHubPlace, work: (octokit: Octokit) => Promise<T>): Promise<T> {
    const known = this.#installations.get(placeOf(ref));
    // Before anything is looked up again for it.
    if (known !== undefined) this.#refuseWaiting(known.id);
    const installation = await this.installation(ref);
    if (installation.suspended) {
      // Asked again next time: it may have been lifted.
      this.#installations.delete(placeOf(ref));
      const { settings } = installation;
      throw new ForgeError('refused', `${this.name} is suspended for ${placeOf(ref)}. Lift it at ${settings}.`, undefined, {
        identity: this.options.role,
        mendAt: settings,
      });
    }
    const octokit = await this.#octokit(installation.id);
    await this.#renew(ref, installation, octokit);
    try {
      return await this.#guarded(installation.id, ref, installation.settings, () => work(octokit), { mayRefresh: octokit });
    } catch (error) {
      // Uninstalled, suspended, moved to another owner, or rights changed: what was known of it is old.
      if (error instanceof ForgeError && error.kind !== 'unavailable') this.#installations.delete(placeOf(ref));
      if (error instanceof ForgeError && error.facts.partial === true && !this.#lacking.has(installation.id))
        this.#lacking.set(installation.id, this.options.now());
      throw error;
    }
  }

  /** A token keeps the permissions it was made with: one that was accepted since would be wanting until it runs out. */
  async #renew(ref: GitHubPlace, { id, settings }: Installation, octokit: Octokit): Promise<void> {
    const since = this.#lacking.get(id);
    if (since === undefined || this.options.now() - since < RENEW_MS) return;
    this.#lacking.delete(id);
    await this.#freshToken(ref, settings, octokit);
  }

  async #freshToken(ref: GitHubPlace, settings: string | null, octokit: Octokit): Promise<void> {
    await this.#guarded(0, ref, settings, async () => octokit.auth({ type: 'installation', refresh: true }), {});
  }

  /**
   * A question to GraphQL, as {@link call}. It goes past the throttle, which takes each for a write: one a second, for
   * all rooms of the installation.
   */
  async query<T>(ref: GitHubPlace, text: string, variables: Record<string, unknown>): Promise<T> {
    return this.call(ref, (octokit) => this.#asker(octokit).graphql<T>(text, variables));
  }

  #asker(octokit: Octokit): Octokit {
    const known = this.#askers.get(octokit);
    if (known !== undefined) return known;
    const asker = unthrottled(octokit, this.options);
    this.#askers.set(octokit, asker);
    return asker;
  }

  /** A token for git, for this one use: it goes into the environment of one git and nowhere else. @throws {ForgeError} */
  async gitToken(ref: GitHubPlace): Promise<string> {
    return this.call(ref, async (octokit) => {
      const { token } = (await octokit.auth({ type: 'installation' })) as { token: string };
      return token;
    });
  }

  /** W9: an App that is not installed is named with its repository. @throws {ForgeError} */
  async installation(ref: GitHubPlace): Promise<Installation> {
    const known = this.#installations.get(placeOf(ref));
    if (known !== undefined && this.options.now() - known.readAt < INSTALLATION_MS) return known;
    const found = await this.installed(ref);
    if (found !== null) return found;
    const { data } = await this.#asApp(ref, (octokit) => octokit.request('GET /app'));
    this.#slug = data?.slug ?? this.#slug;
    const page = data === null ? null : `${data.html_url}/installations/new`;
    throw new ForgeError(
      'refused',
      `${this.name} is not installed on ${placeOf(ref)}. Install it at ${page ?? 'its page'}, or check the address.`,
      undefined,
      { identity: this.options.role, ...(page !== null && { mendAt: page }) },
    );
  }

  /** The same, read anew; null: not installed there. @throws {ForgeError} */
  async installed(ref: GitHubPlace): Promise<Installation | null> {
    const { owner, name: repo } = ref;
    const answer = await this.#asApp(ref, async (octokit) => {
      try {
        return await octokit.request('GET /repos/{owner}/{repo}/installation', { owner, repo });
      } catch (error) {
        if (failedOf(error)?.status === 404) return null;
        throw error;
      }
    });
    if (answer === null) {
      this.#installations.delete(placeOf(ref));
      return null;
    }
    const { id, html_url, app_slug, suspended_at } = answer.data;
    this.#slug = app_slug;
    const installation = {
      id,
      settings: html_url,
      login: `${app_slug}[bot]`,
      suspended: suspended_at !== null,
      readAt: this.options.now(),
    };
    this.#installations.set(placeOf(ref), installation);
    return installation;
  }

  /**
   * The name that what it posts stands under, wherever it is installed; null: its key is not taken any more, so that it
   * cannot be asked. @throws {ForgeError} `unavailable`
   */
  async login(ref: GitHubPlace): Promise<string | null> {
    try {
      this.#slug ??= (await this.#asApp(ref, (octokit) => octokit.request('GET /app'))).data?.slug ?? null;
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'unavailable') throw error;
    }
    return this.#slug === null ? null : `${this.#slug}[bot]`;
  }

  /** As messages name it. */
  get name(): string {
    return `The GitHub App ${this.#slug ?? this.id}`;
  }

  #asApp<T>(ref: GitHubPlace, work: (octokit: Octokit) => Promise<T>): Promise<T> {
    return this.#guarded(0, ref, null, () => work(this.#app.octokit), {});
  }

  async #octokit(installation: number): Promise<Octokit> {
    const known = this.#octokits.get(installation) ?? (await this.#app.getInstallationOctokit(installation));
    this.#octokits.set(installation, known);
    return known;
  }

  #refuseWaiting(gateOf: number): Gate {
    const now = this.options.now();
    const gate = this.#gates.get(gateOf) ?? { until: 0, inARow: 0 };
    this.#gates.set(gateOf, gate);
    gate.until = Math.max(gate.until, this.options.heard(this.#limit(gateOf)));
    if (now < gate.until) throw this.#waiting(gate, gateOf);
    return gate;
  }

  /** The same in every process: a limit is the App's own (0) or one installation's. */
  #limit(gateOf: number): string {
    return `${this.options.apiUrl} App ${this.id}${gateOf === 0 ? '' : ` installation ${gateOf}`}`;
  }

  #waiting({ until }: Gate, gateOf: number): ForgeError {
    return waitingFor('GitHub', { name: this.#limit(gateOf), until }, this.options.now(), { identity: this.options.role });
  }

  async #guarded<T>(
    gateOf: number,
    ref: GitHubPlace,
    settings: string | null,
    work: () => Promise<T>,
    { mayRefresh }: { mayRefresh?: Octokit },
  ): Promise<T> {
    const { now } = this.options;
    const gate = this.#refuseWaiting(gateOf);
    try {
      const result = await work();
      if (now() >= gate.until) gate.inARow = 0;
      return result;
    } catch (error) {
      const failed = failedOf(error);
      if (failed === null) throw error;
      const until = limitedUntil(failed, now(), gate.inARow);
      if (until !== null) {
        gate.until = Math.max(gate.until, until);
        gate.inARow += 1;
        throw this.#waiting(gate, gateOf);
      }
      if (failed.status === 401 && mayRefresh !== undefined) {
        // A token may be taken back before its hour is over: one new one, and no third try.
        await this.#freshToken(ref, settings, mayRefresh);
        return this.#guarded(gateOf, ref, settings, work, {});
      }
      throw explained(failed, { identity: this.options.role, app: this.name, repository: placeOf(ref), settings });
    }
  }
}

export const placeOf = (ref: GitHubPlace): string => `${ref.owner}/${ref.name}`;
