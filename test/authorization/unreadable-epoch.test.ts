// During a rollout, a server cannot read a revocation that a newer one has written. What it hides meanwhile is still valid,
// so its user must be able to end it afterwards.
import { userAuthorizations } from '@grantry/plugins/authorization-endpoint'
import { mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { setUpAccount } from '../account/parties.ts'

const sub = 'sub of alice'

test('an epoch that cannot be read for a moment removes no authorization from the list', async () => {
  const items = new Map<string, string>()
  const f = await setUpAccount({ provider: { storage: mapDriver(items) } })
  await f.provider.revoke({ subject: sub })
  f.clock.advance(5)
  const { browser } = await f.signedIn()
  await f.authorize(browser, 'openid api1 offline_access')
  const list = () => f.provider.use(userAuthorizations).list(sub)
  expect(await list()).toHaveLength(1)
  const [key = '', value = ''] = [...items].find(([name]) => name.startsWith('epoch:')) ?? []
  items.set(key, value.replace(/"epoch":"[^"]*"/u, '"next":1'))
  expect(items.get(key)).not.toBe(value)
  expect(await list()).toEqual([])
  items.set(key, value)
  expect(await list()).toHaveLength(1)
})
