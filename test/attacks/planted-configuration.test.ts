/**
 * Attack: another user of the machine leaves `grantry.config.mjs` in a directory for all users, such as /tmp, and waits for an
 * administrator who runs a command there: a configuration is code.
 */
import { chmodSync, chownSync, lstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { findConfiguration } from '../../packages/server/src/configuration/load.ts'

/** A configuration in a directory with this mode. */
function planted(mode: number, name = 'grantry.config.mjs') {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-planted-'))
  const file = join(directory, name)
  writeFileSync(file, 'export default {}')
  chmodSync(directory, mode)
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return { directory, file }
}

/** Makes a file one of another user, and not of root: root can give it away, and others get another id. */
function asAnotherUser(file: string): void {
  const { uid } = lstatSync(file)
  if (uid === 0) {
    chownSync(file, 65_534, 65_534)
    return
  }
  const user = vi.spyOn(process, 'getuid').mockReturnValue(uid + 1)
  onTestFinished(() => user.mockRestore())
}

test.each([
  [0o1777, 'grantry.config.mjs'],
  [0o777, 'grantry.config.ts'],
  [0o1777, 'grantry.config.json'],
])('in a directory with mode %o, %s of another user is not used', (mode, name) => {
  const { directory, file } = planted(mode, name)
  expect(findConfiguration(directory)).toBe(file)
  asAnotherUser(file)
  expect(() => findConfiguration(directory)).toThrow(`${file} belongs to another user`)
})

test('in a directory of the service, the file of another user is used: it is often that of the host of a container', () => {
  const { directory, file } = planted(0o755)
  asAnotherUser(file)
  expect(findConfiguration(directory)).toBe(file)
})
