import type { EndpointKit, EndpointRequest, Reply } from '@grantry/core'
import type { RemovalCheck } from './removal-mark.ts'

/** An account at a provider that belongs to a user here. */
export interface Link {
  readonly id: string
  readonly sub: string
  readonly provider: string
  /** The name by which the user recognizes the account at the provider. */
  readonly name: string
  readonly linkedAt: number
}

/** A provider whose account a user has linked, or can link. */
export interface LinkableProvider {
  readonly name: string
  readonly displayName: string
}

/** The session of a user who links an account. */
export interface LinkingSession {
  readonly sid: string
  readonly subject: { readonly sub: string; readonly authTime: number }
  /** As `provesTime` of the session: with `false`, the session permits no link. Default: `true`. */
  readonly provesTime?: boolean | undefined
}

/** The functions with which the account page shows and changes links. The page authenticates the user first. */
export interface LinkedProviders {
  readonly providers: readonly LinkableProvider[]
  list(sub: string): Promise<readonly Link[]>
  /** Whether the user is one of a provider, and signs in there without a link. */
  isUpstreamUser(sub: string): Promise<boolean>
  /**
   * Ends a link. Returns whether there was one. The page ensures that the user keeps another way to sign in.
   *
   * @param isStillAllowed called after the link was marked as removed. With `false`, it is restored
   */
  unlink(sub: string, id: string, isStillAllowed?: RemovalCheck): Promise<boolean>
  /** Removes all that is stored of a user whose account ends: the links, the kept tokens, and what providers have stated. */
  forget(sub: string): Promise<void>
  /**
   * Sends the browser to a provider. It comes back to `returnTo` with `link=linked`, `taken`, `full` or `failed`, also if the
   * user has stayed there until the authentication was too old.
   *
   * @param returnTo a page below the issuer
   * @returns `undefined` for an unknown provider, or a session that does not prove that the user has authenticated in the
   *   last 10 minutes
   */
  begin(provider: string, session: LinkingSession, http: EndpointRequest, returnTo: string): Promise<Reply | undefined>
}

/** A user has linked an account, in this request. */
export interface NewLink {
  readonly sub: string
  readonly request: EndpointRequest
  readonly kit: EndpointKit
}

/** Links accounts at providers to users, such as the result of `upstream()`. */
export interface ProviderLinks {
  /** @param kit that of a feature or the interaction of the authorization endpoint */
  linked(kit: EndpointKit): LinkedProviders
  /** Calls the function after each new link, also if the browser does not come back to the page. */
  onLinked(listener: (link: NewLink) => Promise<void>): void
}
