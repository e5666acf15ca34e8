// A login whose outcome could not be stored counts, until one is stored: then it delays no later login.
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'
import { guess, right } from '../support/guesses.ts'
import { commitPaths } from '../support/latency.ts'

test.each(commitPaths)('a login forgets those whose outcome was not stored, $path', async ({ prepare }) => {
  const memory = prepare(memoryDriver())
  let isBroken = false
  const failing = <T>(act: () => T): T => {
    if (isBroken) throw new Error('connection lost')
    return act()
  }
  const { commit } = memory
  const storage: AtomicDriver = {
    ...memory,
    ...(commit !== undefined && { commit: (changes) => failing(() => commit(changes)) }),
    removeItem: (key, options) => failing(() => memory.removeItem(key, options)),
  }
  const f = await fixture({ storage })
  const working = await fixture({ storage: memory, runtime: { now: f.clock.now } })
  for (let login = 0; login < 2; login += 1) await right(f)
  isBroken = true
  for (let login = 0; login < 4; login += 1) expect((await right(f)).status).toBe(503)
  isBroken = false
  expect((await right(working)).status).toBe(200)
  for (let mistake = 0; mistake < 4; mistake += 1) expect((await guess(f, 'alice', 'mistyped')).status).toBe(400)
  expect((await right(f)).status).toBe(200)
})
