// Rows and assertions for the tables of drivers that pass the conformance kit.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type DriverSubject, proveDriver } from '@grantry/storage-drivers/conformance'
import { expect, onTestFinished } from 'vitest'
import { bundle } from '../../support/bundle.ts'

/** Reasons why proofs are left out. */
export const noProcesses = 'the subject has no module for child processes to load'
export const noOutage = 'the subject has no outage option to make the storage unavailable'
export const nothingShared = 'two drivers from open() do not share a storage'

export interface Row {
  readonly name: string
  /** The exact set of reasons for which proofs are left out for this driver. */
  readonly leavesOut: readonly string[]
  subject(): DriverSubject | Promise<DriverSubject>
}

/** Creates a directory that is removed after the test. */
export async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'grantry-conformance-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Bundles a program of this folder as JavaScript, with parameters in the query. */
export async function moduleOf(name: string, query: Readonly<Record<string, string>>): Promise<URL> {
  const file = await bundle(new URL(`./${name}.ts`, import.meta.url))
  onTestFinished(() => rm(dirname(file), { recursive: true, force: true }))
  return new URL(`?${new URLSearchParams(query)}`, pathToFileURL(file))
}

export const named = (rows: readonly Row[]): [string, Row][] => rows.map((row) => [row.name, row])

export async function assertKeepsEveryPromise({ subject, leavesOut }: Row): Promise<void> {
  const { results, text } = await proveDriver(await subject())
  const reasons = results.flatMap(({ outcome, sentences }) => (outcome === 'left out' ? sentences : []))
  expect(new Set(reasons)).toEqual(new Set(leavesOut))
  expect(text).toContain(`${results.length - reasons.length} promises kept, 0 broken, ${reasons.length} not proved`)
}
