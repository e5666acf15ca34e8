import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { askForName } from '../../packages/server/src/init/new-sign-in.ts'

/** What a terminal sends. */
function typed(keys: string) {
  const input = new PassThrough()
  const answer = askForName(input, Object.assign(new PassThrough(), { columns: 80 }))
  input.end(keys)
  return answer
}

test.each([
  ['\r', 'alice'],
  [' bob \r', 'bob'],
])('init --sign-in in a terminal asks for the name: %j is %s', async (keys, name) => {
  expect(await typed(keys)).toBe(name)
})

test.each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-C after a name', 'bob\u0003'],
  ['Ctrl-D', '\u0004'],
  ['a terminal that closes', ''],
])('init --sign-in creates nothing after %s', async (_, keys) => {
  await expect(typed(keys)).rejects.toThrow('cancelled; no file was written')
})
