import type { GenericSchema, InferOutput } from 'valibot'
import type { Subject, UserCredentials } from '../directory/user-service.ts'
import type { Json } from '../json.ts'
import type { Redemption } from './redemption.ts'

/** An authorization that was stored earlier and is presented now. */
export interface StoredGrant {
  /** To whom it was given; a grant compares it before anything else. */
  readonly clientId: string
  readonly subject: Subject
  readonly scopes: readonly string[]
  readonly claims?: Readonly<Record<string, Json>>
  /** Of an authorization code: where it was sent. */
  readonly redirectUri?: string
  readonly nonce?: string
  /** Put it into `redeems` (spends it) or `continues` (does not). */
  readonly redemption: Redemption
}

/** Records of one grant type or of one grant check: no other plugin can name them. Keys may be any text; they are hashed. */
export interface PluginRecords {
  get<S extends GenericSchema>(key: string, schema: S): Promise<InferOutput<S> | undefined>
  /** @param expiresAt epoch seconds */
  put(key: string, value: Json, expiresAt: number): Promise<void>
  /** Creates only when absent; `true` when this call created it. Atomic across processes. */
  insert(key: string, value: Json, expiresAt: number): Promise<boolean>
  delete(key: string): Promise<void>
}

/** What a grant may use. There is no way to issue a token in it: that is the core's, after every check. */
export interface GrantKit {
  /** Epoch seconds. */
  now(): number
  /** SHA-256 of the UTF-8 text, base64url without padding (as `code_challenge_method=S256` has it). */
  sha256(text: string): string
  /** In time that depends on the lengths only. */
  equals(one: string, other: string): boolean
  /** 256 random bits, base64url. */
  randomId(): string
  readonly records: PluginRecords
  findAuthorizationCode(code: string): Promise<StoredGrant | undefined>
  findRefreshToken(token: string): Promise<StoredGrant | undefined>
  /**
   * A single-use credential of the plugin's own (the `jti` of an assertion, say), to be spent through `redeems`.
   * @param expiresAt epoch seconds until which a second use must be refused
   */
  redemption(credential: string, expiresAt: number): Redemption
  /**
   * Asks the host's users. Absent for every reason alike.
   * @throws OAuthError `slow_down` (429) when this user name or client has failed too often.
   */
  authenticateUser(credentials: UserCredentials): Promise<Subject | undefined>
  /** The claims of a valid access token of this provider, whichever client it was issued to. They have a `sub` only where there is a user. */
  validateAccessToken(token: string): Promise<Readonly<Record<string, Json>> | undefined>
}
