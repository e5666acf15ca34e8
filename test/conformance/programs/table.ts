// Rows and assertions for the tables of drivers that pass the conformance kit.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type DriverSubject, proveDriver } from '@grantry/testing/drivers'
import { afterAll, expect } from 'vitest'
import { bundleWithPackages } from '../../support/bundle-with-packages.ts'

/** Reasons why proofs are skipped. */
export const noProcesses = 'the subject has no module for child processes to load'
export const noOutage = 'the subject has no outage option to make the storage unavailable'
export const noCommit =
  'the driver has no commit(): single use is the same, but a crash or a lost race can leave orphaned records'
export const noGetItems = 'the driver has no getItems(): the core reads the items with getItem()'
export const noEntries = 'the driver has no listKeys(): it cannot keep the entries that administrators change'
export const nothingShared = 'two drivers from open() do not share a storage'

export interface Row {
  readonly name: string
  /** The exact set of reasons for which proofs are skipped for this driver. */
  readonly skipReasons: readonly string[]
  subject(): DriverSubject | Promise<DriverSubject>
}

/** Directories and bundled programs for the tests of one file, which may run concurrently. */
export function temporaryFiles() {
  const directories: string[] = []
  const bundles = new Map<string, Promise<string>>()
  afterAll(() => Promise.all(directories.splice(0).map((path) => rm(path, { recursive: true, force: true }))))
  return {
    /** Creates a directory that is removed after the last test. */
    async newDirectory(): Promise<string> {
      const directory = await mkdtemp(join(tmpdir(), 'grantry-conformance-'))
      directories.push(directory)
      return directory
    },
    /** Bundles a program of this folder as JavaScript, with parameters in the query. */
    async moduleOf(name: string, query: Readonly<Record<string, string>>): Promise<URL> {
      const bundled = bundles.get(name) ?? bundleWithPackages(new URL(`./${name}.ts`, import.meta.url))
      bundles.set(name, bundled)
      return new URL(`?${new URLSearchParams(query)}`, pathToFileURL(await bundled))
    },
  }
}

export const named = (rows: readonly Row[]): [string, Row][] => rows.map((row) => [row.name, row])

export async function assertPassesEveryProof({ subject, skipReasons }: Row): Promise<void> {
  // More than the default, because the machine can be busy.
  const { results, text } = await proveDriver({ operationTimeout: 30, ...(await subject()) })
  const reasons = results.flatMap(({ outcome, messages }) => (outcome === 'skipped' ? messages : []))
  expect(new Set(reasons)).toEqual(new Set(skipReasons))
  expect(text).toContain(`${results.length - reasons.length} passed, 0 failed, ${reasons.length} skipped`)
}
