// Attack on a replicated store: the winner's marker reached the primary, and its response was lost with the connection.
// The client retries and gets the stored response; then the primary dies before the marker was replicated. On the
// promoted replica the refresh token is unspent, and a replay yields a second successor. So a retry succeeds only once
// its marker is confirmed.
import type { AtomicDriver } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture } from '../support/fixture.ts'
import { type CommitPath, commitPaths } from '../support/latency.ts'
import { issueTokens, refresh } from '../support/revocation.ts'
import { differentTokens } from '../support/same-tokens.ts'

/**
 * Keeps every insert and commit on the primary, and fails while no replica confirms it, whether the item was new or
 * not.
 */
function unconfirming({ prepare }: CommitPath) {
  const items = new Map<string, string>()
  const primary = prepare(mapDriver(items))
  const { commit } = primary
  const state = { confirms: true }
  function assertConfirmed(): void {
    if (!state.confirms) throw new Error('0 of 1 replicas have confirmed the write')
  }
  const storage: AtomicDriver = {
    ...primary,
    async insertItem(key, value, options) {
      const inserted = await primary.insertItem(key, value, options)
      assertConfirmed()
      return inserted
    },
    ...(commit !== undefined && {
      async commit(changes) {
        const outcome = await commit(changes)
        assertConfirmed()
        return outcome
      },
    }),
  }
  return { storage, state, items }
}

const ofType = (f: Fixture, type: string) => f.events.filter((event) => event.type === type)

describe.each(commitPaths)('a marker that no replica has confirmed, set $path', (path) => {
  test('fails a retry; once it is confirmed, the retry gets the original tokens', async () => {
    const { storage, state } = unconfirming(path)
    const f = await fixture({ storage })
    const { refresh_token: token } = await issueTokens(f)
    state.confirms = false
    for (let attempt = 0; attempt < 2; attempt += 1) expect((await refresh(f, token)).status).toBe(503)
    state.confirms = true
    const [first, second] = [await refresh(f, token), await refresh(f, token)]
    expect([first.status, second.status]).toEqual([200, 200])
    expect(differentTokens([first, second])).toHaveLength(1)
    expect(ofType(f, 'family_revoked')).toEqual([])
    expect((await refresh(f, first.body.refresh_token)).status).toBe(200)
  })

  test('is restored by the retry if the promoted replica does not have it', async () => {
    const { storage, state, items } = unconfirming(path)
    const f = await fixture({ storage })
    const { refresh_token: token } = await issueTokens(f)
    state.confirms = false
    expect((await refresh(f, token)).status).toBe(503)
    const [key = ''] = [...items.keys()].filter((each) => each.startsWith('spent:refresh:'))
    const marker = items.get(key)
    // The primary dies after the retry has read the marker; its insert reaches the replica.
    const get = storage.getItem
    const lost: AtomicDriver['getItem'] = async (each) => {
      const item = await get(each)
      if (each === key) items.delete(key)
      return item
    }
    Object.assign(storage, { getItem: lost })
    state.confirms = true
    expect((await refresh(f, token)).status).toBe(200)
    expect(items.get(key)).toBe(marker)
  })
})
