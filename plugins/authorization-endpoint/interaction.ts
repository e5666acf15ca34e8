import type {
  Client,
  Confirmation,
  EndpointKit,
  EndpointRequest,
  MaybePromise,
  PluginPart,
  Reply,
  Subject,
} from '@grantry/core'
import type { PasskeyCheck } from '../shared/passkey-check.ts'
import type { SecondFactor } from '../shared/second-factor.ts'
import type { Consents } from './consents.ts'
import type { RefusalCode } from './refusal.ts'
import type { CheckedRequest } from './request.ts'
import type { AuthorizationParameters } from './response.ts'
import type { Session, SessionListeners, Sessions } from './sessions.ts'

/** What the user has authorized. */
export interface Decision {
  /**
   * Who has decided. Default: the user of the session. The request can require a recent `authTime`; without one, the user
   * has authenticated just now.
   */
  readonly subject?: Subject | undefined
  /** The granted scopes: a subset of the requested ones. */
  readonly scopes: readonly string[]
}

/** A decision of a user who was asked. */
export interface AskedDecision extends Decision {
  /**
   * Whether the user need not be asked again: `recallConsent` then returns a decision for requests that ask for no more.
   * Default: `false`.
   */
  readonly remember?: boolean | undefined
}

/**
 * A decision without a page. The endpoint accepts it from `recallConsent`, also with fewer scopes, or if the code of the
 * host says that the client needs no consent of its users.
 */
export type UnaskedDecision = Decision & ({ readonly consented: true } | { readonly trusted: true })

/** An authorization request that waits for a decision. */
export interface Interaction {
  /** The checked request. Its parameters come from a stranger: escape what a page shows. */
  readonly request: CheckedRequest
  /** Who is signed in, in this browser. */
  readonly session: Session | undefined
  /**
   * Whether the session does not suffice: there is none, or `prompt`, `max_age`, `id_token_hint`, or a requested `sub` or
   * essential `acr` requires another sign-in. A decision for the user of the session is then refused. If the user has
   * signed in for this request and it still does not suffice, the client receives the refusal.
   */
  readonly mustSignIn: boolean
  /** What `proceed` has stored so far. */
  readonly progress: Progress
  /**
   * The query that begins the request again at the authorization endpoint. A form can repeat it, for a page that leads on
   * after the request has expired.
   */
  readonly restart: string
  /** Facts about the HTTP request of the browser. */
  readonly http: EndpointRequest
  readonly kit: EndpointKit
  readonly sessions: Sessions
  /**
   * Stores the request, so that it can be resumed in this browser, and answered once. A second call returns the same
   * suspension.
   *
   * @throws OAuthError with `prompt=none`, because the request must not wait. Do not catch it.
   */
  suspend(): Promise<Suspension>
  /**
   * Returns a decision for all that the request asks for, if the user need not be asked: the user has consented before, or
   * the client has `requireConsent: false`. `undefined` if the user must be asked.
   *
   * @param sub the user. Default: that of the session
   */
  recallConsent(sub?: string): Promise<UnaskedDecision | undefined>
  /**
   * Returns the scopes that the user of the session has left out when the client asked for them the last time, so that a
   * page with a choice (`choosableScopes`) begins with it.
   */
  recallDeclined(): Promise<readonly string[]>
}

/** A stored request. */
export interface Suspension {
  readonly id: string
  /** Identifies the browser; for CSRF tokens. */
  readonly browser: string
  /** Epoch seconds. */
  readonly expiresAt: number
}

/** The steps of an interaction that the user has completed. */
export interface Progress {
  /** The session in which the user has signed in during this interaction. */
  readonly signedIn?: string | undefined
  /** The account that the user has chosen during this interaction. */
  readonly chosen?: string | undefined
}

/** A suspended interaction, found by its id. */
export interface SuspendedInteraction extends Interaction, Suspension {}

/** How endpoints of an interaction continue it. */
export interface Interactions {
  /** Returns the URL that resumes an interaction by GET. */
  resumeUrl(kit: EndpointKit, id: string): string
  /** Returns `undefined` if the id is unknown, has expired, was used, or belongs to another browser. */
  find(kit: EndpointKit, http: EndpointRequest, id: string): Promise<SuspendedInteraction | undefined>
  /**
   * Lets an interaction wait at least until then (epoch seconds), such as for a mail: at most 30 minutes from now, and a day in
   * all. Forms of the returned interaction are valid as long.
   */
  extend(interaction: SuspendedInteraction, expiresAt: number): Promise<SuspendedInteraction>
  /** Stores progress. Redirect to `resumeUrl` afterwards. */
  proceed(interaction: SuspendedInteraction, progress: Progress): Promise<void>
  /** Ends the interaction with a decision: the reply sends a code to the client. */
  complete(interaction: SuspendedInteraction, decision: AskedDecision): Promise<Reply>
  /** Ends the interaction with a refusal, which the reply sends to the client. */
  refuse(interaction: SuspendedInteraction, error: RefusalCode): Promise<Reply>
}

export interface RefusedInteraction {
  readonly refuse: RefusalCode
}

/** What the endpoints of an interaction can use. */
export interface InteractionServices {
  readonly interactions: Interactions
  readonly sessions: Sessions
  readonly consents: Consents
  /** Whether the interaction and all features accept a session for a page that gives a client access without a request. */
  readonly suffices: SessionCheck
}

/** Whether the session of a user is enough for a client, as `step` decides about requests. */
export type SessionCheck = (
  session: { readonly subject: Subject },
  client: Client,
  kit: EndpointKit,
) => MaybePromise<boolean>

/** What an interaction accepts from users besides a password, or instead of it. */
export interface AcceptedFactors {
  readonly passkeys?: PasskeyCheck | undefined
  readonly secondFactors?: readonly SecondFactor[] | undefined
  /** Further ways to sign in, such as the result of `upstream()`. */
  readonly ways?: readonly object[] | undefined
}

/** Determines who is signed in and what was authorized. */
export interface InteractionPort {
  /**
   * Returns a decision, a refusal for the client, or a reply: a page, or a redirect to a login application. Called again
   * when the browser resumes the request. With `prompt=none`, a reply is not shown: the client receives
   * `interaction_required`.
   */
  interact(interaction: Interaction): MaybePromise<UnaskedDecision | RefusedInteraction | Reply>
  /**
   * Whether `interact` calls functions of the host by `kit.callHost` itself. Default: `false`: the endpoint then
   * calls `interact` by `kit.callHost`, with its time limit.
   */
  readonly limitsHostCalls?: boolean | undefined
  /** Whether users can create accounts, so that requests can have `prompt=create`. Default: `false`. */
  readonly createsAccounts?: boolean | undefined
  /**
   * What users can prove. Features refuse to start if users would set up something else. Default: unknown, so that nothing
   * is refused.
   */
  readonly accepts?: AcceptedFactors | undefined
  /** For pages that give a client access without a request, such as that for devices. Default: every session is enough. */
  readonly suffices?: SessionCheck | undefined
  /** Further parts, such as the endpoints of its forms. */
  readonly parts?: ((services: InteractionServices) => readonly PluginPart[]) | undefined
}

/** A request that the client has sent to another endpoint before. */
export interface PushedRequest {
  readonly params: AuthorizationParameters
  readonly confirmation: Confirmation | undefined
  /** The epoch of the client at the push. */
  readonly clientEpoch?: string | undefined
}

/** Where `request_uri` values of this provider lead. */
export interface PushedRequests {
  /** Whether a URI has the form of one of a pushed request. */
  includes(requestUri: string): boolean
  /** Whether a request of the client must be pushed. */
  isRequired(client: Client): boolean
  /** Returns `undefined` if it is unknown, has expired, was used, belongs to another client, or the client was revoked. */
  find(kit: EndpointKit, requestUri: string, clientId: string): Promise<PushedRequest | undefined>
  /** Uses the request up. Returns `false` if it was used before. */
  use(kit: EndpointKit, requestUri: string): Promise<boolean>
}

/** An optional part of the endpoint, which shares its records, sessions and requests. */
export interface AuthorizationFeature extends SessionListeners {
  /**
   * Called at start with what the interaction accepts, if it states that. Returns why the feature would be a dead end
   * beside it, and the remedy: it is refused at start.
   */
  readonly checkAccepted?: ((accepted: AcceptedFactors) => string | undefined) | undefined
  parts(services: InteractionServices): readonly PluginPart[]
  readonly pushed?: PushedRequests | undefined
  /**
   * A step between the sign-in and the decision, such as terms that users must accept. Called with the user who is signed
   * in, or has decided; again after each page of the request. Returns a page, a redirect or a refusal while the user must
   * not get a code, and `undefined` afterwards. With `prompt=none`, a reply is not shown: the client receives
   * `interaction_required`.
   */
  readonly step?:
    | ((interaction: Interaction, sub: string) => MaybePromise<Reply | RefusedInteraction | undefined>)
    | undefined
  /**
   * Whether a session is enough for a page that gives a client access without a request, such as that for devices: what `step`
   * demands of each request. Default: every session is.
   */
  readonly suffices?: SessionCheck | undefined
  /** Called before a client receives a code of a session. */
  readonly onAuthorized?: ((kit: EndpointKit, session: Session, client: Client) => Promise<void>) | undefined
  /**
   * Whether identity tokens of the client need the `sid` of the session, because the client can receive logout tokens.
   * Clients with `postLogoutRedirectUris` always get it.
   */
  readonly needsSid?: ((client: Client) => boolean) | undefined
}
