import { expect, test } from 'vitest'
import { smallFiles } from '../../scripts/structure/small-files.ts'

const lines = (count: number): string => 'x()\n'.repeat(count)

test.each([
  ['a small file with one user', 10, 100, true],
  ['a file of 60 lines', 60, 100, false],
  ['a file whose user has no room for it', 59, 191, false],
])('finds %s', (_what, ofFile, ofUser, isFound) => {
  const user = { path: 'packages/a/src/b/user.ts', text: `import { c } from './c.ts'\n${lines(ofUser - 1)}` }
  const small = smallFiles([user, { path: 'packages/a/src/b/c.ts', text: lines(ofFile) }])
  expect(small).toEqual(isFound ? ['packages/a/src/b/c.ts'] : [])
})

test.each([
  ['with two users', ['packages/a/src/b/one.ts', 'packages/a/src/b/two.ts']],
  ['with a user in another folder', ['packages/a/src/d/one.ts']],
  ['without a user in the sources', []],
])('leaves out a file %s', (_what, paths) => {
  const users = paths.map((path) => ({ path, text: "import { c } from '../b/c.ts'" }))
  expect(smallFiles([...users, { path: 'packages/a/src/b/c.ts', text: lines(10) }])).toEqual([])
})

test('leaves out a file that its user loads when it needs it', () => {
  const user = { path: 'packages/a/src/b/user.ts', text: "const { c } = await import('./c.ts')" }
  expect(smallFiles([user, { path: 'packages/a/src/b/c.ts', text: lines(10) }])).toEqual([])
})
