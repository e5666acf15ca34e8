import type { DirectorySchemas, Json, ProviderKeys, Revoke } from '@grantry/core'
import type { Administration } from '../open-administration.ts'
import type { ResettableFactors } from '../users/reset-second-factors.ts'

/** A session of a user: what `userSessions` of `@grantry/plugins/authorization-endpoint` returns. */
export interface AdminSession {
  readonly sid: string
  readonly subject: { readonly amr?: readonly string[] | undefined; readonly authTime?: number | undefined }
  /** Epoch seconds. */
  readonly startedAt: number
  /** Epoch seconds. */
  readonly expiresAt: number
}

/** The sessions of users: `provider.use(userSessions)`. */
export interface AdminSessions {
  list(sub: string): Promise<readonly AdminSession[]>
  end(sid: string): Promise<boolean>
  endAll(sub: string): Promise<number>
}

/** The consent of a user to a client. */
export interface AdminConsent {
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly claims: readonly string[]
}

/** The consents of users: `provider.use(userConsents)`. */
export interface AdminConsents {
  list(sub: string): Promise<readonly AdminConsent[]>
  revoke(sub: string, clientId: string): Promise<boolean>
}

/** An authorization of a user for an installation of a client, as `userAuthorizations` returns it. */
export interface AdminAuthorization {
  readonly family: string
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly audiences: readonly string[]
  /** Epoch seconds. */
  readonly startedAt: number
  /** Epoch seconds. */
  readonly expiresAt: number
}

/** The authorizations of users: `provider.use(userAuthorizations)`. */
export interface AdminAuthorizations {
  list(sub: string): Promise<readonly AdminAuthorization[]>
}

/**
 * A user, and where the user is: in the configuration, the storage, a user service, or known from another provider.
 * `removed`: in none of these any more, but sessions or authorizations are left.
 */
export interface AdminUser {
  readonly sub: string
  /** The name for the sign-in, where it is known. */
  readonly username?: string | undefined
  readonly active: boolean
  readonly claims: Readonly<Record<string, Json | undefined>>
  readonly from: 'configuration' | 'storage' | 'service' | 'provider' | 'removed'
}

/** The users of a server, wherever they are. */
export interface AdminUsers {
  /** Whether users can be in the storage. `false`: all come from a user service. */
  readonly inStorage: boolean
  /** Finds the user with exactly this `sub`, and the users with this name, active or not. Each once. */
  find(subOrName: string): Promise<readonly AdminUser[]>
}

/** An invitation to create an account. */
export interface AdminInvitation {
  readonly id: string
  readonly email: string
  readonly claims: Readonly<Record<string, Json>>
  /** Epoch seconds. */
  readonly invitedAt: number
  /** Epoch seconds. */
  readonly expiresAt: number
}

/** The invitations: `provider.use(invitations)` of `@grantry/plugins/self-service`. */
export interface AdminInvitations {
  newId(): string
  /** Returns the invitation, or why there is none. */
  invite(invitation: {
    readonly id?: string | undefined
    readonly email: string
    readonly claims?: Readonly<Record<string, Json>> | undefined
    readonly locale?: string | undefined
  }): Promise<AdminInvitation | string>
  list(): Promise<readonly AdminInvitation[]>
  withdraw(id: string): Promise<boolean>
}

/**
 * The host whose entries the API changes. The plugin reads it with the first request, because it can need the provider
 * that has the plugin.
 */
export interface AdminHost {
  readonly administration: Administration
  /** `provider.keys`. */
  readonly keys: ProviderKeys
  /** `provider.revoke`. */
  readonly revoke: Revoke
  /** Absent: users are known if they are in the storage, or `users.isActive` of the provider knows them. */
  readonly users?: AdminUsers | undefined
  /** Absent without `authorizationEndpoint()`. */
  readonly sessions?: AdminSessions | undefined
  /** Absent without `authorizationEndpoint()` or `loginPage()`. */
  readonly consents?: AdminConsents | undefined
  /** Absent without `authorizationEndpoint()` or `loginPage()`. */
  readonly authorizations?: AdminAuthorizations | undefined
  /** Absent unless users create accounts by invitation. */
  readonly invitations?: AdminInvitations | undefined
  /** Absent unless a plugin offers it, such as `signIn()` with second factors or passkeys. */
  readonly secondFactors?: ResettableFactors | undefined
  /** Whether the server has tenants. Default: no. */
  readonly hasTenants?: boolean | undefined
  /**
   * The schemas of clients and scopes: `directorySchemasOf(plugins)`. Default: those without the members of plugins.
   */
  readonly schemas?: DirectorySchemas | undefined
}
