import type { ProviderKeys } from '@grantry/core'
import type { Administration } from '../open-administration.ts'

/** A session of a user, as the API returns it. */
export interface AdminSession {
  readonly sid: string
}

/** What the API changes. It is asked for when the first request arrives: it can need the provider that has the plugin. */
export interface AdminHost {
  readonly administration: Administration
  /** `provider.keys`. */
  readonly keys: ProviderKeys
  /** The sessions of users: `provider.use(userSessions)`. Absent without `authorizationEndpoint()`. */
  readonly sessions?:
    | {
        list(sub: string): Promise<readonly object[]>
        end(sid: string): Promise<boolean>
        endAll(sub: string): Promise<number>
      }
    | undefined
}
