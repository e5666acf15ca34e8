// Permits that the storage did not take back delay no later login, once the user has logged in.
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'
import { guess, right } from '../support/guesses.ts'
import { inOrder } from '../support/latency.ts'

test.each([true, false])('a login forgets the permits that were not returned, after a reset: %s', async (isReset) => {
  const memory = inOrder(memoryDriver())
  let isBroken = false
  const storage: AtomicDriver = {
    ...memory,
    removeItem(key, options) {
      if (isBroken) throw new Error('connection lost')
      return memory.removeItem(key, options)
    },
  }
  const f = await fixture({ storage })
  for (let login = 0; login < 2; login += 1) await right(f)
  if (isReset) await guess(f, 'alice', 'mistyped')
  await right(f)
  isBroken = true
  for (let login = 0; login < 9; login += 1) {
    expect((await right(f)).status).toBe(503)
    f.clock.advance(60)
  }
  isBroken = false
  expect((await right(f)).status).toBe(200)
  expect((await guess(f, 'alice', 'mistyped')).status).toBe(400)
  expect((await right(f)).status).toBe(200)
})
