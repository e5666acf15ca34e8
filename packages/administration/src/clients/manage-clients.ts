import type { ClientOptions, Runtime } from '@grantry/core'
import type { Administrator } from '../audit.ts'
import type { ManageDeps } from '../entry-writes.ts'
import { type EditOptions, type EntryManager, manageEntries } from '../manage-entries.ts'
import type { Managed } from '../managed-entry.ts'
import { refused } from '../refusal.ts'
import { createNewSecret, type RotatedSecret, rotateSecret } from '../secrets.ts'
import { clientEntries } from './client-entries.ts'
import { clientType } from './client-type.ts'

/** A client, and its secret if this change has created one. The secret is not stored, and cannot be shown again. */
export interface WithSecret {
  readonly client: Managed<ClientOptions>
  readonly secret?: string | undefined
}

export interface ClientManager extends Omit<EntryManager<ClientOptions>, 'add'> {
  /** Adds a client, with a new secret unless it is public, has a key or a rule for workloads, or names its secrets. */
  add(client: ClientOptions, tags?: readonly string[]): Promise<WithSecret>
  /** Adds a secret. The secrets that the client has end after `overlap` seconds, or when they end anyway. */
  rotateSecret(
    clientId: string,
    overlap: number,
    options?: Pick<EditOptions, 'version'>,
  ): Promise<WithSecret & RotatedSecret>
}

type Deps = ManageDeps<ClientOptions> & { readonly runtime: Pick<Runtime, 'randomBytes' | 'base64url' | 'sha256Hex'> }

/** Methods with which a client proves that it has a key. */
const keyMethods: readonly unknown[] = [
  'private_key_jwt',
  'tls_client_auth',
  'self_signed_tls_client_auth',
  'workload_jwt',
  'spiffe_jwt',
  'none',
]

/**
 * Whether a client that is new gets a secret: not a public one, or one that names its secrets, that has a key, or a rule for
 * tokens of its platform.
 */
export const needsNewSecret = (
  client: Pick<ClientOptions, 'public' | 'secrets' | 'tokenEndpointAuthMethod'> & { readonly workload?: unknown },
): boolean =>
  client.public !== true &&
  client.secrets === undefined &&
  client.workload === undefined &&
  !keyMethods.includes(client.tokenEndpointAuthMethod)

function assertConfidential({ clientId, public: isPublic }: ClientOptions): void {
  if (isPublic !== true) return
  throw refused('invalid', `the client ${clientId} is public: it has no secret`, { member: 'public' })
}

/** Manages the clients in the storage in the name of an administrator. */
export function manageClients(deps: Deps, by: Administrator): ClientManager {
  const entries = clientEntries(deps.entries, deps.runtime)
  const manager = manageEntries(clientType, { ...deps, entries }, by)
  const newSecret = createNewSecret(deps.runtime)

  return {
    ...manager,
    async add(client, tags) {
      if (!needsNewSecret(client)) return { client: await manager.add(client, tags) }
      const { secret, hash } = newSecret()
      return { client: await manager.add({ ...client, secrets: [hash] }, tags), secret }
    },
    async rotateSecret(clientId, overlap, options = {}) {
      const change = { ...options, action: 'client_secret_rotated' }
      const rotation = { now: deps.now, newSecret }
      const { rotated, ...secrets } = await rotateSecret(
        manager,
        clientId,
        overlap,
        change,
        rotation,
        assertConfidential,
      )
      return { client: rotated, ...secrets }
    },
  }
}
