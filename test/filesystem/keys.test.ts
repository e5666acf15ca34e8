// Keys become paths. A path outside the directory, or one shared by two keys, would expose the token of another user.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FilesystemDriver, filesystemDriver } from '@grantry/storage-drivers/filesystem'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { anyCharacter } from '../support/any-character.ts'
import { isLong } from '../support/rounds.ts'

let parent: string
let directory: string
let driver: FilesystemDriver
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  directory = join(parent, 'storage')
  driver = filesystemDriver({ directory, fsync: false })
})
afterEach(async () => {
  await driver.dispose()
  rmSync(parent, { recursive: true })
})

const hostile = [
  '',
  ' ',
  'n',
  'n:m',
  'n:m:o',
  'N',
  'n.m',
  'n:',
  ':n',
  '::',
  ':',
  '..',
  '.',
  '../..',
  '../../escaped',
  '..\\escaped',
  '/etc/passwd',
  'C:\\escaped',
  'a/b',
  'a\\b',
  'a%2fb',
  'a%2Fb',
  '%',
  '%25',
  '%%',
  'a?b',
  'a?c',
  'a$',
  'a*',
  'a|b',
  'a"b',
  'a<b>',
  'a\0b',
  'a\nb',
  'con',
  'CON',
  'con:a',
  'nul',
  'com1',
  'con.txt',
  '~',
  '-rf',
  '__proto__',
  'constructor',
  'ä',
  'a\u0308',
  'Ä',
  'ß',
  'ss',
  '\u212a',
  'k',
  '🔑',
  '\ufffd',
  'a ',
  'a.',
  'a',
  'items',
  'format',
]

const slots = (): string[] => {
  const items = join(directory, 'items')
  return readdirSync(items).flatMap((fan) => readdirSync(join(items, fan)))
}

test('hostile keys have separate values, and getKeys returns them unchanged', async () => {
  for (const key of hostile) await driver.setItem(key, `value of ${key}`)
  for (const key of hostile) expect(await driver.getItem(key)).toBe(`value of ${key}`)
  expect((await driver.getKeys()).sort()).toEqual([...hostile].sort())
  for (const key of hostile) {
    expect(await driver.insertItem(key, 'again', { ttl: 60 })).toBe(false)
    await driver.removeItem(key)
    expect(await driver.hasItem(key)).toBe(false)
  }
  expect(await driver.getKeys()).toEqual([])
})

test('nothing is written outside the directory', async () => {
  for (const key of hostile) await driver.setItem(key, 'value')
  expect(readdirSync(parent)).toEqual(['storage'])
  expect(readdirSync(directory).sort()).toEqual(['format', 'items', 'tmp'])
  expect(readdirSync(join(directory, 'items'))).toHaveLength(256)
  expect(readdirSync(join(directory, 'tmp'))).toEqual([])
})

test('names on disk differ by more than case, and none is changed or reserved by Windows', async () => {
  for (const key of hostile) await driver.setItem(key, 'value')
  const names = slots()
  expect(new Set(names.map((name) => name.normalize('NFKC').toUpperCase())).size).toBe(hostile.length)
  for (const name of names) {
    expect(name).toMatch(/^[a-z0-9_.%-]+$/)
    expect(name).not.toMatch(/^\.|\.$|^(?:con|nul|com1)(?:\.|$)/)
  }
})

test('a typical key is readable on disk', async () => {
  await driver.setItem('spent:refresh:9f86d081', 'value')
  expect(slots()).toEqual(['spent.refresh.9f86d081'])
})

test('any key keeps its own value and is listed unchanged', async () => {
  const all = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.string({ unit: anyCharacter, maxLength: 60 }), { minLength: 20 }),
      async (keys) => {
        for (const key of keys) await driver.setItem(key, key)
        for (const key of keys) expect(await driver.getItem(key)).toBe(key)
        for (const key of keys) all.add(key)
      },
    ),
    { numRuns: isLong ? 1000 : 10 },
  )
  // Walks all directories, so only once.
  expect((await driver.getKeys()).sort()).toEqual([...all].sort())
})

test.each([
  ['a'.repeat(201), 201],
  ['A'.repeat(67), 201],
  ['🔑'.repeat(100), 1200],
])('every operation rejects a key whose file name is too long', async (key, length) => {
  const sentence = `needs a file name of ${length} characters, and at most 200 are allowed; use a hash of it`
  await expect(driver.getItem(key)).rejects.toThrow(sentence)
  await expect(driver.hasItem(key)).rejects.toThrow(sentence)
  await expect(driver.setItem(key, 'value')).rejects.toThrow(sentence)
  await expect(driver.setItem(key, 'value', { ttl: 0 })).rejects.toThrow(sentence)
  await expect(driver.insertItem(key, 'value', { ttl: 60 })).rejects.toThrow(sentence)
  await expect(driver.removeItem(key)).rejects.toThrow(sentence)
  await expect(driver.getMeta(key)).rejects.toThrow(sentence)
})

test('the longest allowed key works', async () => {
  await driver.setItem('a'.repeat(200), 'value')
  expect(await driver.getItem('a'.repeat(200))).toBe('value')
})

// In UTF-8 they would all become U+FFFD, so different keys would share an item.
test.each(['\ud800', 'a\udc00', '\udfff\ud800'])('rejects a key that is not well-formed Unicode', async (key) => {
  await expect(driver.setItem(key, 'value')).rejects.toThrow('is not well-formed Unicode (it has a lone surrogate)')
  await expect(driver.getItem(key)).rejects.toThrow('is not well-formed Unicode (it has a lone surrogate)')
})
