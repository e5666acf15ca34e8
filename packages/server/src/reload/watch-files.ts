import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { configurationFiles, contentOf } from '../configuration/configuration-files.ts'
import { keySettingsOf } from '../configuration/keys.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { namesDriver } from '../users/user-databases.ts'

export interface WatchOptions {
  readonly file: string
  readonly directory: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The configuration that is used; it names more files. */
  readonly current: () => CheckedConfiguration
  readonly reload: () => Promise<unknown>
  /** Milliseconds between two looks. */
  readonly interval?: number | undefined
}

/**
 * Milliseconds. The files are polled: a mounted ConfigMap changes by a link in another directory, and network file systems
 * report no changes.
 */
const usualInterval = 1000

const filesNamedBy = ({ keys, users }: CheckedConfiguration): readonly string[] =>
  [keySettingsOf(keys).jwks, namesDriver(users) ? users.ca : undefined].flatMap((path) => path ?? [])

/**
 * Reloads when the content of the files of a configuration has changed, and has been the same at two looks: a file that is
 * being written is left alone. Returns a function that ends it.
 */
export function watchFiles({ file, directory, environment, current, reload, interval }: WatchOptions): () => void {
  let used: string | undefined
  let seen: string | undefined
  let isBusy = false
  let isStopped = false

  async function lookAt(): Promise<string> {
    const own = await configurationFiles(file, environment).catch(() => [file])
    const named = filesNamedBy(current()).map((path) => resolve(directory, path))
    const hash = createHash('sha256')
    for (const path of [...own, ...named]) hash.update(JSON.stringify([path, await contentOf(path)]))
    return hash.digest('hex')
  }

  async function look(): Promise<void> {
    const found = await lookAt()
    // The first look is at what the server has started with.
    used ??= found
    const isSettled = found === seen
    seen = found
    if (!isSettled || found === used || isStopped) return
    // Also if it is refused: the same content is not tried again and again.
    used = found
    await reload()
  }

  const lookOnce = (): void => {
    if (isBusy) return
    isBusy = true
    void look().finally(() => {
      isBusy = false
    })
  }
  lookOnce()
  const timer = setInterval(lookOnce, interval ?? usualInterval)
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}
