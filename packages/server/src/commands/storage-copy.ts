import { type CopyCounts, copyItems, type ListableDriver } from '@grantry/storage-drivers/copy'
import type { LoadedConfiguration } from '../configuration/load.ts'
import type { ConfiguredStorage } from '../configuration/storage/configured-storage.ts'
import { configuredStorage } from '../configuration/storage/storage-drivers.ts'
import { errorMessage } from '../error-message.ts'
import { assertSharedStorage, requireConfiguration } from '../opening/open-configuration.ts'
import { progressBar } from './progress-bar.ts'

export interface StorageCopyArguments {
  readonly from?: string
  readonly to: string
  readonly final?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

const isListable = (driver: object): driver is ListableDriver => 'listItems' in driver && 'countItems' in driver

/** A storage whose items can be listed. */
export interface OpenedStorage extends ConfiguredStorage {
  readonly driver: ListableDriver
}

/** @param effect what is impossible with a storage in memory */
export async function openListed(loaded: LoadedConfiguration, effect: string): Promise<OpenedStorage> {
  assertSharedStorage(loaded, effect)
  const { driver, description } = await configuredStorage(loaded.configuration.storage, loaded.directory)
  if (isListable(driver)) return { driver, description }
  throw new TypeError(`${loaded.file}: the items of this storage cannot be listed`)
}

export const number = (count: number): string => count.toLocaleString('en-US')

const sentences = {
  dryRun: 'Nothing was written.',
  first:
    'The service may still write to the source. Stop it, run this command again with --final, then start it with the new storage.',
  final: 'Both storages have the same items. Start the service with the new storage.',
} as const

function resultText({ read, written, removed }: CopyCounts, kind: keyof typeof sentences): string {
  const would = kind === 'dryRun' ? ' to be' : ''
  return `Read ${number(read)} items: ${number(written)}${would} written, ${number(removed)}${would} removed.\n${sentences[kind]}\n`
}

/** Runs `grantry storage copy`. Returns what to print. */
export async function storageCopyCommand(options: StorageCopyArguments): Promise<string> {
  const { final = false, dryRun = false, json = false } = options
  const source = await requireConfiguration(options.from)
  const target = await requireConfiguration(options.to)
  const effect = 'its items cannot be copied'
  const from = await openListed(source, effect)
  const to = await openListed(target, effect).catch(async (cause) => {
    await from.driver.dispose?.()
    throw cause
  })
  try {
    await from.driver.open?.()
    const bar = progressBar(process.stderr, await from.driver.countItems())
    process.stderr.write(`from  ${from.description}\nto    ${to.description}\n`)
    const counts = await copyItems({
      from: from.driver,
      to: to.driver,
      final,
      dryRun,
      onProgress: ({ read }, step) => bar.show(step, read),
    }).finally(bar.end)
    if (json) return `${JSON.stringify({ ...counts, final, dryRun })}\n`
    return resultText(counts, dryRun ? 'dryRun' : final ? 'final' : 'first')
  } catch (cause) {
    throw new Error(`storage copy from ${source.file} to ${target.file}: ${errorMessage(cause)}`, { cause })
  } finally {
    await Promise.all([from.driver.dispose?.(), to.driver.dispose?.()])
  }
}
