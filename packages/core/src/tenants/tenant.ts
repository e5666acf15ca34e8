import type { MaybePromise } from '../types.ts'
import type { TenantServing } from './lease.ts'

/** A tenant, as the host knows it. */
export interface Tenant<O> {
  /** Its name in events, metrics and logs. No two tenants have the same. */
  readonly name: string
  /**
   * Changes with each change of the tenant, which is then opened again. Requests that have begun end with the earlier
   * one. Default: the tenant never changes.
   */
  readonly version?: string | undefined
  /**
   * The part of the storage that the tenant uses. If a tenant has the name of an earlier one, choose another value,
   * so that it never reads records of the earlier one. Default: the name.
   */
  readonly space?: string | undefined
  /** Called when the tenant is used and not open. */
  open(): MaybePromise<O>
}

/** Where the host keeps its tenants. */
export interface TenantSource<O> {
  /** Returns the tenant for a key; `undefined` if there is none. Called at most once per key in `recheckAfter` seconds. */
  find(key: string): MaybePromise<Tenant<O> | undefined>
  /**
   * Returns a text that changes with each change of any tenant. While it stays the same, `find()` is not called
   * again.
   */
  readonly revision?: (() => MaybePromise<string>) | undefined
}

/** What happens to a tenant. */
export interface TenantEvent {
  readonly type: 'tenant_opened' | 'tenant_closed' | 'tenant_failed'
  readonly tenant: string
  /** `unused`: not used for a while; `crowded`: other tenants were used since; `changed`, `ended`, `stopped`. */
  readonly reason?: 'unused' | 'crowded' | 'changed' | 'ended' | 'stopped' | undefined
  /** Milliseconds that it took to open it. */
  readonly duration?: number | undefined
  /** The cause of a failure. */
  readonly cause?: unknown
}

export interface TenantLimits {
  /** Tenants that are open at the same time. The one that was not used for the longest time is closed. Default: 100. */
  readonly maxOpen?: number | undefined
  /** Seconds after which `runTasks()` closes a tenant that was not used. Default: 600. */
  readonly closeAfter?: number | undefined
  /** Seconds after which a change or the end of a tenant is seen at the latest. Default: 2. */
  readonly recheckAfter?: number | undefined
}

/** Creates what serves a tenant. */
export type OpenTenant<O, S extends TenantServing> = (options: O, tenant: Tenant<O>, key: string) => Promise<S>
