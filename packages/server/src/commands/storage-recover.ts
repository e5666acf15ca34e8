import { type RecoverCounts, recoverStorage } from '@grantry/core'
import { keysAreStored } from '../configuration/keys.ts'
import { errorMessage } from '../error-message.ts'
import { requireConfiguration } from '../opening/open-configuration.ts'
import { progressBar } from './progress-bar.ts'
import { openListed } from './storage-copy.ts'

export interface StorageRecoverArguments {
  readonly config?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

const number = (count: number): string => count.toLocaleString('en-US')

const fixedKeys =
  'The signing keys are in the configuration: replace them before you start the service: a JWT that was revoked after the backup is valid until it expires.\n'

function resultText({ read, removed }: RecoverCounts, dryRun: boolean, hasFixedKeys: boolean): string {
  const counted = `Read ${number(read)} items: ${number(removed)} ${dryRun ? 'to be ' : ''}removed.\n`
  if (dryRun) return `${counted}Nothing was removed.\n`
  return `${counted}${hasFixedKeys ? fixedKeys : ''}The storage is recovered: all users sign in again. Changes of accounts since the backup are lost: repeat them (docs/guides/deployment.md).\n`
}

/** Runs `grantry storage recover`, for a storage that was restored from a backup. Returns what to print. */
export async function storageRecoverCommand(given: StorageRecoverArguments): Promise<string> {
  const { dryRun = false, json = false } = given
  const loaded = await requireConfiguration(given.config)
  const { driver, description } = await openListed(loaded, 'there is nothing to recover')
  try {
    await driver.open?.()
    const bar = progressBar(process.stderr, await driver.countItems())
    process.stderr.write(`storage  ${description}\n`)
    const onProgress = ({ read }: RecoverCounts): void => bar.show('recover', read)
    const counts = await recoverStorage({ storage: driver, dryRun, onProgress }).finally(bar.end)
    if (json) return `${JSON.stringify({ ...counts, dryRun })}\n`
    return resultText(counts, dryRun, !keysAreStored(loaded.configuration.keys))
  } catch (cause) {
    throw new Error(`storage recover of ${loaded.file}: ${errorMessage(cause)}`, { cause })
  } finally {
    await driver.dispose?.()
  }
}
