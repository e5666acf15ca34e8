import type { Client, Subject } from '@grantry/core'
import type { Consents } from './consents.ts'
import type { AuthorizationFeature, PushedRequests } from './feature.ts'
import type { AskedDecision, Decision, Interaction } from './interaction.ts'
import { invalid, type RefusalCode, refusal, refused } from './refusal.ts'
import type { CheckedRequest } from './request.ts'
import { type TimedSubject, unmetBy } from './requirements.ts'
import type { Session, Sessions, SignedInUser } from './sessions.ts'
import type { SuspendedRequests } from './suspended.ts'
import type { Visit } from './visit.ts'

/** A decision of an interaction, or of a login application elsewhere. */
export interface VisitDecision extends AskedDecision {
  /** The user who has signed in elsewhere: a session begins. */
  readonly signIn?: SignedInUser | undefined
  /** Whether a page has asked the user. */
  readonly asked?: boolean | undefined
}

export interface Decisions {
  /** Spends the request, and returns a code, and cookies for the reply. @throws OAuthError for the client. */
  decide(
    decision: VisitDecision,
    interaction: Interaction,
    visit: Visit,
  ): Promise<{ readonly code: string; readonly cookies: readonly string[] }>
  /** Spends the request, and throws the refusal for the client. */
  refuse(code: RefusalCode, interaction: Interaction, visit: Visit): Promise<never>
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
export function assertAcceptable({ scopes }: Decision, subject: TimedSubject, request: CheckedRequest): void {
  const unmet = unmetBy(subject, request)
  if (unmet !== undefined) throw refused(unmet)
  if (!scopes.every((scope) => request.scopes.includes(scope))) {
    throw new TypeError('A decision contains a scope that was not requested')
  }
}

/** Returns the session, if it suffices. */
function sufficientSession({ session, mustSignIn, request, progress }: Interaction): Session {
  if (session === undefined || mustSignIn) throw refused('login_required')
  const { sid } = session
  const isChosen = progress.chosen === sid || progress.signedIn === sid
  if (request.prompts.has('select_account') && !isChosen) throw refused('account_selection_required')
  return session
}

export function createDecisions(deps: {
  readonly sessions: Sessions
  readonly suspendedRequests: SuspendedRequests
  readonly pushedRequests: PushedRequests | undefined
  readonly features: readonly AuthorizationFeature[]
  readonly consents: Consents
}): Decisions {
  const { sessions, suspendedRequests, pushedRequests, features, consents } = deps
  const onAuthorized = features.flatMap((feature) => feature.onAuthorized ?? [])

  /** A client that knows no sessions needs no id of one. */
  const needsSid = (client: Client): boolean =>
    client.postLogoutRedirectUris.length > 0 || features.some((feature) => feature.needsSid?.(client) === true)

  /** Spends the suspended request and the pushed one. @throws OAuthError if one of them was spent before. */
  async function spend({ suspended, pushed, kit }: Visit): Promise<void> {
    if (suspended !== undefined && !(await suspendedRequests.use(kit, suspended.id, suspended.record))) {
      throw invalid('The request was already answered', 'interaction_used')
    }
    if (pushed !== undefined && (await pushedRequests?.use(kit, pushed)) !== true) {
      throw refusal('invalid_request_uri', 'The request_uri is not valid', 'request_uri_used')
    }
  }

  return {
    async refuse(code, { request, session, kit, http }, visit) {
      await spend(visit)
      if (code === 'access_denied') {
        const context = { sub: session?.subject.sub, client: request.client, clientAddress: http.clientAddress }
        kit.recordUser({ type: 'authorization_denied' }, context)
      }
      throw refused(code)
    },

    async decide({ subject: given, scopes, signIn, remember, asked }, interaction, visit) {
      const { request, kit, http } = interaction
      const { subject, standing } =
        given === undefined
          ? sufficientSession(interaction)
          : { subject: timed(given, kit.now()), standing: signIn?.standing }
      assertAcceptable({ scopes }, subject, request)
      await spend(visit)
      const started = signIn === undefined ? undefined : await sessions.start(kit, signIn, http)
      const session = started?.session ?? interaction.session
      const ofSession = session?.subject.sub === subject.sub ? session : undefined
      if (ofSession !== undefined) {
        await Promise.all(onAuthorized.map((notify) => notify(kit, ofSession, request.client)))
      }
      const identityClaims = ofSession !== undefined && needsSid(request.client) ? { sid: ofSession.sid } : undefined
      const subjectEpoch = standing && (standing.epoch ?? null)
      const code = await kit.authorize(request.proposal, { subject, scopes, identityClaims, subjectEpoch })
      // Last: of several decisions about a request, only the one that counts leaves a consent.
      if (remember === true) await consents.remember(kit, subject.sub, request, scopes, standing)
      if (asked === true) {
        const context = { sub: subject.sub, client: request.client, clientAddress: http.clientAddress }
        kit.recordUser({ type: 'consent_given', scopes: [...scopes] }, context)
      }
      return { code, cookies: started?.cookies ?? [] }
    },
  }
}
