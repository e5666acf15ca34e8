// Module for child processes of the conformance kit: the filesystem driver on the directory in the query.
import type { AtomicDriver } from '@grantry/core'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'

export const open = (): AtomicDriver =>
  filesystemDriver({ directory: new URL(import.meta.url).searchParams.get('directory') ?? '' })
