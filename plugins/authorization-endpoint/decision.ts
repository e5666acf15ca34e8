import type { Client, EndpointKit, Refuse, Subject } from '@grantry/core'
import { unprovedTime } from '../shared/unproved-time.ts'
import { noteAuthorization } from '../shared/user-authorizations.ts'
import type { Consents } from './consents.ts'
import type { AskedDecision, AuthorizationFeature, Decision, Interaction, PushedRequests } from './interaction.ts'
import { type Organizations, organizationClaims } from './organizations.ts'
import { type RefusalCode, refused } from './refusal.ts'
import type { CheckedRequest } from './request.ts'
import type { Session, Sessions, SignedInUser } from './sessions.ts'
import type { Standing } from './standing.ts'
import type { SuspendedRecord, SuspendedRequests } from './suspended.ts'
import { type Judged, type TimedSubject, unmetBy } from './visit.ts'

/** A decision of an interaction, or of a login application elsewhere. */
export interface VisitDecision extends AskedDecision {
  /** The user who has signed in elsewhere: a session begins. */
  readonly signIn?: SignedInUser | undefined
  /** Whether a page has asked the user. */
  readonly asked?: boolean | undefined
}

/** A decision that the request allows. */
export interface Decided extends VisitDecision {
  readonly subject: TimedSubject
  /** The state of the user at the sign-in. */
  readonly standing: Standing | undefined
  /** That of the session. Default: `true`. */
  readonly provesTime?: boolean | undefined
}

/** A request that can be answered once. */
interface Spendable {
  readonly kit: EndpointKit
  readonly pushed?: string | undefined
  readonly suspended: { readonly id: string; readonly record: SuspendedRecord } | undefined
}

/** The last steps of a request. Each throws the refusal for the client. */
export interface Decisions {
  decide(decision: VisitDecision, interaction: Deciding): Decided
  /** Spends the suspended request and the pushed one. Refuses if one of them was spent before. */
  spend(request: Spendable): Promise<void>
  /** Returns a code, and cookies for the reply. */
  issue(
    decided: Decided,
    interaction: Interaction,
  ): Promise<{ readonly code: string; readonly cookies: readonly string[] }>
}

/** `authorize` applies the same default. */
export const timed = (subject: Subject, now: number): TimedSubject => ({
  ...subject,
  authTime: subject.authTime ?? now,
})

/**
 * Refuses a decision that the request does not allow.
 *
 * @throws OAuthError for the client.
 * @throws TypeError (a defect of the host) for a scope that was not requested.
 */
export function assertAcceptable({ scopes }: Decision, subject: Judged, request: CheckedRequest, refuse: Refuse): void {
  const unmet = unmetBy(subject, request)
  if (unmet !== undefined) throw refused(unmet, refuse)
  if (!scopes.every((scope) => request.scopes.includes(scope))) {
    throw new TypeError('A decision contains a scope that was not requested')
  }
}

interface Deciding extends Interaction {
  /** Why the session does not suffice, if another sign-in would not help. */
  readonly unreached?: RefusalCode | undefined
}

/** Returns the session, if it suffices. */
function sufficientSession(interaction: Deciding): Session {
  const { session, mustSignIn, request, progress, kit, unreached = 'login_required' } = interaction
  if (session === undefined || mustSignIn) throw refused(unreached, kit.refuse)
  const { sid } = session
  const isChosen = progress.chosen === sid || progress.signedIn === sid
  if (request.prompts.has('select_account') && !isChosen) throw refused('account_selection_required', kit.refuse)
  return session
}

export function createDecisions(deps: {
  readonly sessions: Sessions
  readonly suspendedRequests: SuspendedRequests
  readonly pushedRequests: PushedRequests | undefined
  readonly features: readonly AuthorizationFeature[]
  readonly consents: Consents
  readonly organizations: Organizations | undefined
}): Decisions {
  const { sessions, suspendedRequests, pushedRequests, features, consents, organizations } = deps
  const onAuthorized = features.flatMap((feature) => feature.onAuthorized ?? [])

  /** A client that knows no sessions needs no id of one. */
  const needsSid = (client: Client): boolean =>
    client.postLogoutRedirectUris.length > 0 || features.some((feature) => feature.needsSid?.(client) === true)

  /** Begins the session of a user who has signed in elsewhere, and informs features about the client. */
  async function openSession(
    { signIn, subject }: Decided,
    { request, kit, http, session: earlierSession }: Interaction,
  ) {
    const started = signIn === undefined ? undefined : await sessions.start(kit, signIn, http)
    const session = started?.session ?? earlierSession
    const ofSession = session?.subject.sub === subject.sub ? session : undefined
    if (ofSession !== undefined) {
      await Promise.all(onAuthorized.map((notify) => notify(kit, ofSession, request.client)))
    }
    return { sid: needsSid(request.client) ? ofSession?.sid : undefined, cookies: started?.cookies ?? [] }
  }

  return {
    decide(decision, interaction) {
      const { subject: decidedSubject, scopes, signIn } = decision
      const { request, kit } = interaction
      const { subject, standing, provesTime } =
        decidedSubject === undefined
          ? sufficientSession(interaction)
          : { subject: timed(decidedSubject, kit.now()), standing: signIn?.standing, provesTime: undefined }
      assertAcceptable({ scopes }, { ...subject, provesTime }, request, kit.refuse)
      return { ...decision, subject, standing, provesTime }
    },

    async spend({ suspended, pushed, kit }) {
      if (suspended !== undefined && !(await suspendedRequests.use(kit, suspended.id, suspended.record))) {
        throw kit.refuse('invalid_request', 'The request was already answered', 'interaction_used')
      }
      if (pushed !== undefined && (await pushedRequests?.use(kit, pushed)) !== true) {
        throw kit.refuse('invalid_request_uri', 'The request_uri is not valid', 'request_uri_used')
      }
    },

    async issue(decided, interaction) {
      const { subject, scopes, standing, remember, asked, provesTime = true } = decided
      const { request, kit, http } = interaction
      const organization =
        organizations && (await organizationClaims(organizations, subject.sub, request.acrValues, kit))
      const claims = provesTime ? organization : { ...organization, ...unprovedTime }
      const { sid, cookies } = await openSession(decided, interaction)
      const identityClaims = sid === undefined && claims === undefined ? undefined : { ...(sid && { sid }), ...claims }
      const recalled = consents.recalled(subject.sub, request)
      const subjectEpoch = standing === undefined ? recalled.subjectEpoch : (standing.epoch ?? null)
      const approval = { ...recalled, subject, scopes, claims, identityClaims, subjectEpoch }
      const code = await kit.authorize(request.proposal, approval)
      const epochs = kit.authorizedEpochs(request.proposal)
      // Comes last: of several decisions about a request, only the one that was accepted leaves a consent.
      await Promise.all([
        remember === true && consents.remember(kit, subject.sub, request, scopes, epochs),
        noteAuthorization(kit, request.proposal, { sub: subject.sub, scopes, epochs }),
      ])
      if (asked === true) {
        const context = { sub: subject.sub, client: request.client, clientAddress: http.clientAddress }
        kit.recordUser({ type: 'consent_given', scopes: [...scopes] }, context)
      }
      return { code, cookies }
    },
  }
}
