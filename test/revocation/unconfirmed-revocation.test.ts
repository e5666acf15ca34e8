// Attack on a replicated store, as in test/concurrency/unconfirmed-marker.test.ts, but on the revocation of a family:
// the revocation reached the primary, and no replica confirmed it: 503. The client retries, the server finds the marker
// (or, for a reference token, its absence) by reading, and acknowledges the revocation. Then the primary dies, and on
// the promoted replica the family is still valid.
import type { AtomicDriver } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { type Fixture, fixture, web } from '../support/fixture.ts'
import { expectRevoked, formats, issueTokens, refresh } from '../support/revocation.ts'

/** Keeps every write on the primary, and fails while no replica confirms it. */
function unconfirming() {
  const primary = mapDriver(new Map())
  const state = { confirms: true }
  async function confirmed<T>(write: () => T): Promise<Awaited<T>> {
    const response = await write()
    if (!state.confirms) throw new Error('0 of 1 replicas have confirmed the write')
    return response
  }
  const storage: AtomicDriver = {
    ...primary,
    setItem: (key, value, options) => confirmed(() => primary.setItem(key, value, options)),
    insertItem: (key, value, options) => confirmed(() => primary.insertItem(key, value, options)),
    removeItem: (key, options) => confirmed(() => primary.removeItem(key, options)),
  }
  return { storage, state }
}

const revoke = (f: Fixture, token: string, as = web) => f.post('revocation', { token }, as)

test.each(formats)(
  'does not acknowledge a revocation of a %s that no replica has, however often it is sent',
  async (_, as) => {
    const { storage, state } = unconfirming()
    const f = await fixture({ storage })
    const { access_token: token } = await issueTokens(f, as)
    state.confirms = false
    for (let attempt = 0; attempt < 3; attempt += 1) expect((await revoke(f, token, as)).status).toBe(503)
    state.confirms = true
    expectRevoked(await revoke(f, token, as))
  },
)

test('nor that of a family', async () => {
  const { storage, state } = unconfirming()
  const f = await fixture({ storage })
  const { refresh_token: token } = await issueTokens(f)
  state.confirms = false
  for (let attempt = 0; attempt < 3; attempt += 1) expect((await revoke(f, token)).status).toBe(503)
  state.confirms = true
  expectRevoked(await revoke(f, token))
})

test('does not reject a replay for good before its revocation is on a replica', async () => {
  const { storage, state } = unconfirming()
  const f = await fixture({ storage })
  const { refresh_token: token } = await issueTokens(f)
  expect((await refresh(f, token)).status).toBe(200)
  state.confirms = false
  const replay = { grant_type: 'refresh_token', refresh_token: token, scope: 'openid offline_access' }
  for (let attempt = 0; attempt < 3; attempt += 1) expect((await f.post('token', replay, web)).status).toBe(503)
  state.confirms = true
  expect(await f.post('token', replay, web)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
})
