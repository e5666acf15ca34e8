// What a child process of the conformance kit loads: the filesystem driver on the directory that the query names.
import type { AtomicDriver } from '@grantry/core'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'

export const open = (): AtomicDriver =>
  filesystemDriver({ directory: new URL(import.meta.url).searchParams.get('directory') ?? '' })
