import type { EndpointKit, EndpointRequest } from '@grantry/core'
import * as v from 'valibot'
import { clockSkew } from '../shared/jwt-claims.ts'
import { keptRecord } from '../shared/kept-record.ts'
import { storeWaiting } from '../shared/known-sites.ts'

const schema = v.object({
  provider: v.string(),
  /** The interaction that the sign-in belongs to. Only its browser can continue it. */
  interaction: v.exactOptional(v.string()),
  /** Instead of an interaction: the session whose user links an account, and where the browser returns to. */
  link: v.exactOptional(v.object({ sid: v.string(), sub: v.string(), returnTo: v.string() })),
  nonce: v.string(),
  verifier: v.string(),
  /** Epoch seconds. */
  startedAt: v.number(),
  /** The `max_age` that was sent. */
  maxAge: v.exactOptional(v.number()),
  expiresAt: v.number(),
})

/** A sign-in at a provider that has begun. */
export type StoredState = v.InferOutput<typeof schema>

/** 256 random bits. */
const form = /^[\w-]{43}$/u
const keyOf = (state: string): string => `upstream state:${state}`

/** Seconds that a user can take at a provider. */
export const stateLifetime = 1800

/** @throws OAuthError when too many requests of strangers wait */
export const storeState = (kit: EndpointKit, http: EndpointRequest, state: string, value: StoredState): Promise<void> =>
  storeWaiting(kit, http, {
    value,
    store: () => kit.records.put(keyOf(state), value, value.expiresAt),
    remove: () => kit.records.delete(keyOf(state)),
  })

export const findState = async (kit: EndpointKit, state: string | undefined): Promise<StoredState | undefined> =>
  state !== undefined && form.test(state) ? kit.records.get(keyOf(state), schema) : undefined

/**
 * Uses a state. `false` if a request has used it before, in any process. The record stays, so that a callback that is
 * loaded again still finds its interaction.
 */
export const spendState = (kit: EndpointKit, state: string, { expiresAt }: StoredState): Promise<boolean> =>
  kit.records.insert(`used upstream state:${state}`, true, expiresAt + clockSkew, keptRecord)
