import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { configurationFiles, contentOf } from '../configuration/configuration-files.ts'
import { keySettingsOf } from '../configuration/configured-keys.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { namesDriver } from '../configuration/users-schema.ts'

export interface WatchOptions {
  readonly file: string
  readonly directory: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The configuration that is used; it names more files. */
  readonly current: () => CheckedConfiguration
  readonly reload: () => Promise<unknown>
  /** `hashOfFiles()` before the configuration was read: a change in between is not missed. */
  readonly used: string
  /** Milliseconds between two reads. */
  readonly interval?: number | undefined
}

/**
 * Milliseconds. The files are polled: a mounted ConfigMap changes by a link in another directory, and network file systems
 * report no changes.
 */
const usualInterval = 1000

const filesNamedBy = ({ keys, users }: CheckedConfiguration): readonly string[] =>
  [keySettingsOf(keys).jwks, namesDriver(users) ? users.ca : undefined].flatMap((path) => path ?? [])

async function hashOf(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const path of paths) hash.update(JSON.stringify([path, await contentOf(path)]))
  return hash.digest('hex')
}

/** Returns a hash of the files that are read for a configuration. */
export const hashOfFiles = async (file: string, environment: WatchOptions['environment']): Promise<string> =>
  hashOf(await configurationFiles(file, environment).catch(() => [file]))

/**
 * Reloads when the files of a configuration have changed, and two reads have returned the same content, so that a file
 * is not used while it is being written. Returns a function that ends this.
 */
export function watchFiles(options: WatchOptions): () => void {
  const { file, directory, environment, current, reload, interval = usualInterval } = options
  const used: { own: string; named: string | undefined } = { own: options.used, named: undefined }
  let seen: string | undefined
  let isBusy = false
  let isStopped = false

  async function look(): Promise<void> {
    const ownHash = await hashOfFiles(file, environment)
    const named = await hashOf(filesNamedBy(current()).map((path) => resolve(directory, path)))
    used.named ??= named
    const isSettled = seen === ownHash + named
    seen = ownHash + named
    if (!isSettled || (ownHash === used.own && named === used.named) || isStopped) return
    // Stored even if the configuration is refused, so that the same content is tried once.
    used.own = ownHash
    used.named = named
    const before = filesNamedBy(current()).join()
    await reload()
    if (filesNamedBy(current()).join() !== before) used.named = undefined
  }

  const lookOnce = (): void => {
    if (isBusy) return
    isBusy = true
    void look().finally(() => {
      isBusy = false
    })
  }
  lookOnce()
  const timer = setInterval(lookOnce, interval)
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}
