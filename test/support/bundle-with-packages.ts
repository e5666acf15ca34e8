import { symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.ts'

const packages = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** Bundles a program that finds packages beside it which cannot be bundled, such as libsql. */
export async function bundleWithPackages(entry: URL): Promise<string> {
  const script = await bundle(entry)
  await symlink(packages, join(dirname(script), 'node_modules'))
  return script
}
