import type { KeyInfo, Reply } from '@grantry/core'
import * as v from 'valibot'
import { refused } from '../refusal.ts'
import { type Operation, operation } from './operation.ts'

const flag = v.optional(v.boolean(), false)

const listed = (keys: readonly KeyInfo[]): Reply => ({
  json: { items: keys.map((key) => ({ ...key })) } as Reply['json'],
})

/** Converts the refusal of the keys: they are not in the storage, or one was published too recently. */
async function changed(change: () => Promise<readonly KeyInfo[]>): Promise<readonly KeyInfo[]> {
  try {
    return await change()
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    throw refused('in_use', cause.message, { cause })
  }
}

/** The signing keys. Private keys never leave the provider. */
export const keyOperations: readonly Operation[] = [
  operation({
    id: 'listKeys',
    method: 'GET',
    path: '/keys',
    summary: 'List the signing keys',
    params: v.strictObject({}),
    status: 200,
    handle: async ({ host }) => listed(await host.keys.list()),
  }),
  operation({
    id: 'rotateKeys',
    method: 'POST',
    path: '/keys/rotate',
    summary: 'Sign with the next keys. `force`: even if they were published too recently for caches',
    params: v.strictObject({ force: flag }),
    status: 200,
    async handle({ host, params, audited }) {
      const rotate = () => changed(() => host.keys.rotate(params))
      return listed(await audited({ action: 'keys_rotated', id: 'keys', after: { ...params } }, rotate))
    },
  }),
  operation({
    id: 'retireKey',
    method: 'POST',
    path: '/keys/{kid}/retire',
    summary: 'Take a key out of use. `compromised`: refuse every token that it has signed, immediately',
    params: v.strictObject({ force: flag, compromised: flag }),
    status: 200,
    async handle({ host, params, audited, kit, ids: [kid = ''] }) {
      const known = await host.keys.list()
      if (!known.some((key) => key.kid === kid)) {
        throw kit.refuse('invalid_request', 'There is no such key', 'not_found', { status: 404 })
      }
      const retire = () => changed(() => host.keys.retire(kid, params))
      return listed(await audited({ action: 'key_retired', id: kid, after: { ...params } }, retire))
    },
  }),
]
