import type { ClientOptions, Entry, Json, JsonObject } from '@grantry/core'

/** A client in the storage. */
export interface StoredClient {
  /** As in the configuration. Its secrets are hashes. */
  readonly client: ClientOptions
  /** Labels of the administrator. */
  readonly tags: readonly string[]
  /** ISO 8601. */
  readonly createdAt: string
  readonly changedAt: string
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isTags = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((tag) => typeof tag === 'string')

/** @throws TypeError when another version, or another program, has written the entry. */
export function storedClientIn({ id, value }: Entry): StoredClient {
  const { client, tags, createdAt, changedAt } = isObject(value) ? value : ({} as JsonObject)
  if (!isObject(client) || client.clientId !== id || !isTags(tags)) {
    throw new TypeError(`The stored client ${id} has an unknown form; a newer version may have written it`)
  }
  return {
    client: client as unknown as ClientOptions,
    tags,
    createdAt: String(createdAt),
    changedAt: String(changedAt),
  }
}

export const entryValueOf = (stored: StoredClient): Json => ({ ...stored }) as unknown as Json
