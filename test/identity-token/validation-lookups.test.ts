// The cost of a validation with a slow store: all lookups for an identity token run concurrently.
import type { AtomicDriver } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { fixture, redirectUri, web } from '../support/fixture.ts'

/** Settles the reads in flight together, once no further read is sent: each batch is one round trip. */
function countingDriver() {
  const driver = mapDriver(new Map())
  const trips: string[][] = []
  let waiting: (() => void)[] = []
  let keys: string[] = []
  const response = (): void => {
    trips.push(keys)
    const answered = waiting
    waiting = []
    keys = []
    for (const resolve of answered) resolve()
  }
  const storage: AtomicDriver = {
    ...driver,
    async getItem(key) {
      if (waiting.length === 0) setTimeout(response, 0)
      keys.push(key.slice(0, key.indexOf(':')))
      await new Promise<void>((resolve) => waiting.push(resolve))
      return driver.getItem(key)
    },
  }
  return { storage, trips }
}

test('4.18 looks up the family and the revocations of client and subject in one round trip', async () => {
  const { storage, trips } = countingDriver()
  const f = await fixture({ storage })
  const form = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
  const { id_token: token } = (await f.post('token', form, web)).body
  trips.length = 0
  expect((await f.post('identityTokenValidation', { token, client_id: web[0] })).status).toBe(200)
  expect(trips.map((kinds) => kinds.sort())).toEqual([['epoch', 'epoch', 'revoked']])
})
