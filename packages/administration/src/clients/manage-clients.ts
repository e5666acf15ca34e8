import { type ClientOptions, hashSecret, type Runtime } from '@grantry/core'
import type { Administrator } from '../audit.ts'
import type { ManageDeps } from '../entry-writes.ts'
import { type EditOptions, type EntryManager, manageEntries } from '../manage-entries.ts'
import type { Managed } from '../managed-entry.ts'
import { refused } from '../refusal.ts'
import { clientType } from './client-type.ts'
import { endingSecrets } from './ending-secrets.ts'

/** A client, and its secret if this change has created one. It is not stored, and cannot be shown again. */
export interface WithSecret {
  readonly client: Managed<ClientOptions>
  readonly secret?: string | undefined
}

export interface ClientManager extends Omit<EntryManager<ClientOptions>, 'add'> {
  /** Adds a client, with a new secret unless it is public or has secrets. */
  add(client: ClientOptions, tags?: readonly string[]): Promise<WithSecret>
  /** Adds a secret. Those that the client has end after `overlap` seconds, or when they end anyway. */
  rotateSecret(clientId: string, overlap: number, options?: Pick<EditOptions, 'version'>): Promise<Required<WithSecret>>
}

type Deps = ManageDeps<ClientOptions> & { readonly runtime: Pick<Runtime, 'randomBytes' | 'base64url'> }

const hasNoSecret = ({ public: isPublic, secrets = [] }: ClientOptions): boolean =>
  isPublic !== true && secrets.length === 0

/** Manages the clients in the storage in the name of an administrator. */
export function manageClients(deps: Deps, by: Administrator): ClientManager {
  const { now, runtime } = deps
  const manager = manageEntries(clientType, deps, by)
  const newSecret = (): string => runtime.base64url(runtime.randomBytes(32))

  return {
    ...manager,
    async add(given, tags) {
      const secret = hasNoSecret(given) ? newSecret() : undefined
      const client = { ...given, ...(secret !== undefined && { secrets: [hashSecret(secret)] }) }
      return { client: await manager.add(client, tags), ...(secret !== undefined && { secret }) }
    },
    async rotateSecret(clientId, overlap, options = {}) {
      const secret = newSecret()
      const time = Math.floor(now() / 1000)
      const action = 'client_secret_rotated'
      const rotated = (found: ClientOptions): ClientOptions => {
        if (found.public === true)
          throw refused('invalid', `the client ${clientId} is public: it has no secret`, { member: 'public' })
        return { ...found, secrets: [...endingSecrets(found.secrets, time, time + overlap), hashSecret(secret)] }
      }
      const client = await manager.replace(clientId, rotated, { ...options, action })
      return { client, secret }
    },
  }
}
