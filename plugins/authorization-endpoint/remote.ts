import { type EndpointKit, hostKey, type Subject } from '@grantry/core'
import { assertAcceptable, timed } from './decision.ts'
import { findTarget } from './parameters.ts'
import type { RefusalCode } from './refusal.ts'
import { type CheckedRequest, checkRequest } from './request.ts'
import { type Standing, standingOf } from './standing.ts'
import { createSuspendedRequests, type Outcome, type SuspendedRecord, storeOutcome } from './suspended.ts'

/** A suspended request, as a login application on another host sees it. */
export interface RemoteInteraction {
  readonly id: string
  /** Escape what a page shows: it comes from a stranger. */
  readonly request: CheckedRequest
  /** Epoch seconds. */
  readonly expiresAt: number
}

/** What the user has authorized in a login application. */
export interface RemoteDecision {
  readonly subject: Subject
  /** How the user is shown to the user, such as the user name. */
  readonly name?: string | undefined
  /** The granted scopes: a subset of the requested ones. */
  readonly scopes: readonly string[]
  /** Whether the user need not be asked again: `recallConsent` then returns a decision. Default: `false`. */
  readonly remember?: boolean | undefined
  /** Whether the user has asked to stay signed in. Counts only in the mode `checkbox`. Default: `false`. */
  readonly staySignedIn?: boolean | undefined
}

/**
 * Decides about requests for which `interact` has redirected to a login application on another host, with the id of
 * `suspend`. That application sees no cookie of the provider, so it cannot know which browser began the request. Hence
 * each decision returns a URL with a ticket. Redirect the browser that has just signed in to it, and no other one: a code
 * is sent only if that browser is also the one that began the request.
 */
export interface RemoteInteractions {
  /** Returns `undefined` if the id is unknown, has expired or was answered. */
  find(id: string): Promise<RemoteInteraction | undefined>
  /**
   * Stores a decision until the browser follows the URL. The provider then begins a session of the user. A later decision
   * replaces it. It has no effect if the user is revoked, or all sessions of the user end, in between. Returns
   * `undefined` as `find` does.
   *
   * @throws OAuthError if the request does not accept the user, such as another one than that of `id_token_hint`. Pass
   * its `code` to `refuse`, or let the user sign in again.
   */
  complete(id: string, decision: RemoteDecision): Promise<string | undefined>
  /** Stores a refusal, which the client receives when the browser follows the URL. */
  refuse(id: string, code: RefusalCode): Promise<string | undefined>
}

/**
 * The key of the functions with which a login application on another host decides about requests.
 *
 * @example
 * const url = await provider.use(remoteInteractions).complete(id, { subject, scopes: ['openid'] })
 */
export const remoteInteractions = hostKey<RemoteInteractions>('remote-interactions', 'authorizationEndpoint()')

/** Returns the state of the user before the password was checked, if the provider has checked it. */
async function provedStandingOf(kit: EndpointKit, subject: Subject): Promise<Standing> {
  const standing = await standingOf(kit, subject.sub)
  const epoch = kit.provedEpochOf(subject)
  return epoch === undefined ? standing : { ...standing, epoch: epoch ?? undefined }
}

/** @throws TypeError if the endpoint to which the browser returns is disabled. */
export function createRemoteInteractions(kit: EndpointKit): RemoteInteractions {
  const resumeUrl = kit.endpointUrl('authorizationResume')
  if (resumeUrl === undefined) throw new TypeError('remoteInteractions requires the endpoint authorizationResume')
  const requests = createSuspendedRequests()

  const check = async (record: SuspendedRecord): Promise<CheckedRequest> => {
    const { params, confirmation, startedAt } = record
    return checkRequest(await findTarget(params, kit), { params, confirmation, startedAt }, kit)
  }

  async function answer(id: string, outcome: Outcome, { expiresAt }: SuspendedRecord): Promise<string> {
    const ticket = await storeOutcome(kit, id, outcome, expiresAt)
    return `${resumeUrl}?${new URLSearchParams({ interaction: id, ticket })}`
  }

  return {
    async find(id) {
      const record = await requests.peek(kit, id)
      return record === undefined ? undefined : { id, request: await check(record), expiresAt: record.expiresAt }
    },

    async complete(id, { subject: decidedSubject, name, scopes, remember, staySignedIn }) {
      const [record, standing] = await Promise.all([requests.peek(kit, id), provedStandingOf(kit, decidedSubject)])
      if (record === undefined) return undefined
      const subject = timed(decidedSubject, kit.now())
      assertAcceptable({ scopes }, subject, await check(record), kit.refuse)
      return answer(id, { subject, name, scopes, remember, staySignedIn, standing }, record)
    },

    async refuse(id, code) {
      const record = await requests.peek(kit, id)
      return record === undefined ? undefined : answer(id, { refuse: code }, record)
    },
  }
}
