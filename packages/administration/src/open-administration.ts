import {
  type ClientOptions,
  type EntryStore,
  type RevocationTarget,
  type Runtime,
  type ScopeOptions,
  webRuntime,
} from '@grantry/core'
import { type Administrator, type Audit, createAudit } from './audit.ts'
import { type AuditPage, type AuditRequest, auditPage } from './audit-pages.ts'
import { manageClients } from './clients/manage-clients.ts'
import type { Managers } from './managers.ts'
import { refused } from './refusal.ts'
import { manageScopes } from './scopes/manage-scopes.ts'
import { manageTenants } from './tenants/manage-tenants.ts'
import type { TenantMembers } from './tenants/tenant-type.ts'
import { type HashPassword, manageUsers } from './users/manage-users.ts'
import type { StoredUser } from './users/user.ts'

export interface AdministrationOptions {
  /** The entries of the issuer: `openEntries()` of `@grantry/core`. */
  readonly entries: EntryStore
  /** Each rejects with a RefusedError when the provider would refuse the value. */
  readonly check: {
    readonly client: (client: ClientOptions) => Promise<void>
    readonly scope: (scope: ScopeOptions) => Promise<void>
    readonly user: (user: StoredUser) => Promise<void>
    /** Default: a server without tenants, which refuses all. */
    readonly tenant?: ((tenant: TenantMembers) => Promise<void>) | undefined
  }
  /** The clients of the configuration: a scope that one of them has cannot be removed. */
  readonly configuredClients?: readonly Pick<ClientOptions, 'clientId' | 'scopes'>[] | undefined
  /** Hashes passwords in a form that the sign-in accepts: `hashPassword` of `@grantry/users/password-hash`. */
  readonly hashPassword: HashPassword
  /** `provider.revoke` of a provider on the same storage. */
  readonly revoke: (target: RevocationTarget) => Promise<void>
  /**
   * `provider.renewClient` of a provider on the same storage. Default: after a change that takes something away from a client,
   * another process can use for seconds what it remembers.
   */
  readonly renewClient?: ((clientId: string) => Promise<void>) | undefined
  /**
   * Removes the records of plugins about a removed user, such as passkeys and consents. If the function fails, the user
   * is disabled, and the removal can be repeated. Default: these records stay until they expire.
   */
  readonly forgetUser?: ((sub: string) => Promise<void>) | undefined
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined
  readonly runtime?: Pick<Runtime, 'randomBytes' | 'base64url' | 'sha256Hex'> | undefined
}

/** Returns an object whose members are created when they are used: a request or a command uses one manager of four. */
function whenUsed<T extends object>(create: { readonly [Name in keyof T]: () => T[Name] }): T {
  const getters = Object.entries<() => unknown>(create).map(([name, make]) => {
    let made: unknown
    const get = (): unknown => {
      made ??= make()
      return made
    }
    return [name, { get, enumerable: true }] as const
  })
  return Object.defineProperties({}, Object.fromEntries(getters)) as T
}

/** Everything in the storage that changes while the service runs. */
export interface Administration {
  /** Returns the managers that change in the name of an administrator, each of which is created when it is used. */
  as(by: Administrator): Managers
  /** Records a change that concerns no entry, such as a rotation of keys, before it is made. */
  readonly audited: Audit
  /** Returns a page of the audit trail, the newest change first. */
  audit(request: AuditRequest): Promise<AuditPage>
}

async function withoutTenants(): Promise<void> {
  throw refused('unsupported', 'this server has no tenants; add "tenants" to its configuration')
}

const unchecked = async (): Promise<void> => {}

export function openAdministration(options: AdministrationOptions): Administration {
  const { entries, check, hashPassword, revoke, configuredClients = [], now = Date.now, runtime = webRuntime } = options
  const audit = createAudit({ entries, now, runtime })
  const deps = { entries, revoke, audit, now, runtime }
  const ofClients = { ...deps, renew: options.renewClient }
  return {
    as: (by) =>
      whenUsed<Managers>({
        clients: () => manageClients({ ...ofClients, check: check.client }, by),
        scopes: () =>
          manageScopes(
            {
              ...deps,
              check: check.scope,
              configuredClients,
              clients: manageClients({ ...ofClients, check: unchecked }, by),
            },
            by,
          ),
        users: () => manageUsers({ ...deps, check: check.user, hashPassword, forget: options.forgetUser }, by),
        tenants: () => manageTenants({ ...deps, check: check.tenant ?? withoutTenants }, by),
      }),
    audited: audit,
    audit: (request) => auditPage(entries, request),
  }
}
