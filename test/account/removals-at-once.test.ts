// Two forms of one user that delete the account at the same moment, such as that of a thief and that of the owner.
import { expect, test } from 'vitest'
import { beginRemoval } from '../../plugins/account/removal.ts'
import { isRemoved } from '../../plugins/account/removed-user.ts'
import type { AccountServices } from '../../plugins/account/services.ts'
import { kitOf, offerKit } from '../support/kit-of.ts'
import { setUpAccount } from './parties.ts'

async function setUp() {
  const removed: string[] = []
  const f = await setUpAccount({
    account: { deletion: true, removeUser: (sub: string) => void removed.push(sub) },
    endpoint: { features: [{ parts: () => [offerKit('authorization-endpoint')] }] },
  })
  const kit = kitOf(f.provider, 'authorization-endpoint')
  const services = {
    removeUser: (sub: string) => void removed.push(sub),
    sessions: { endAll: async () => {} },
    consents: { forget: async () => {} },
  } as unknown as AccountServices
  const remove = (isStillAllowed: () => Promise<boolean>) =>
    beginRemoval({ sub: 'alice', to: undefined, locale: 'en', isStillAllowed }, kit, services)
  return { ...f, kit, removed, remove }
}

test('one that is refused meanwhile does not keep an allowed one from its end', async () => {
  const { kit, removed, remove } = await setUp()
  let refused: string | undefined
  const outcome = await remove(async () => {
    refused = await remove(async () => false)
    return true
  })
  expect([refused, outcome, removed, await isRemoved(kit, 'alice')]).toEqual(['ended', 'done', ['alice'], true])
})

test('one that is refused leaves nothing that removes the user later', async () => {
  const { clock, kit, provider, removed, remove } = await setUp()
  expect(await remove(async () => false)).toBe('ended')
  clock.advance(120)
  await provider.runTasks()
  expect([removed, await isRemoved(kit, 'alice')]).toEqual([[], false])
})

test('one that is sent again after the other has ended removes the user once', async () => {
  const { clock, provider, removed, remove } = await setUp()
  expect([await remove(async () => true), await remove(async () => false)]).toEqual(['done', 'ended'])
  clock.advance(120)
  await provider.runTasks()
  expect(removed).toEqual(['alice'])
})

test('one whose process dies before it is judged again removes no user, also not later', async () => {
  const { clock, kit, provider, removed, remove } = await setUp()
  let decide = (_isAllowed: boolean) => {}
  const reached = new Promise<void>((resolve) => {
    void remove(() => {
      resolve()
      return new Promise((result) => {
        decide = result
      })
    })
  })
  await reached
  await provider.runTasks()
  expect([removed, await isRemoved(kit, 'alice')]).toEqual([[], true])
  clock.advance(120)
  await provider.runTasks()
  expect([removed, await isRemoved(kit, 'alice')]).toEqual([[], false])
  decide(false)
})

test('one that was judged long ago is judged once more', async () => {
  const { clock, kit, provider, removed, remove } = await setUp()
  const checks: boolean[] = []
  const outcome = await remove(async () => {
    checks.push(checks.length === 0)
    if (checks.length > 1) return false
    // The process stops here, and a revocation comes meanwhile.
    clock.advance(120)
    await provider.runTasks()
    return true
  })
  expect([outcome, checks, removed, await isRemoved(kit, 'alice')]).toEqual(['ended', [true, false], [], false])
})
