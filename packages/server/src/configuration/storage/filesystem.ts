import { resolve } from 'node:path'
import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import type { ConfiguredStorage } from './configured-storage.ts'
import { text } from './fields.ts'

export const filesystemSchema = configurationObject({
  driver: v.literal('filesystem'),
  directory: v.optional(text('the path of a directory'), './.grantry'),
  fsync: v.optional(v.boolean('must be true or false'), true),
})

export async function configuredFilesystem(
  storage: v.InferOutput<typeof filesystemSchema>,
  directory: string,
): Promise<ConfiguredStorage> {
  const { filesystemDriver } = await import('@grantry/storage-drivers/filesystem')
  const path = resolve(directory, storage.directory)
  const note = storage.fsync ? '' : ', without fsync: a power failure can lose the last seconds'
  return {
    driver: filesystemDriver({ directory: path, fsync: storage.fsync }),
    description: `filesystem: ${path}${note}`,
  }
}
