import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { hashFunctionsDefine } from '../../scripts/hash-functions.js'
import { codeBlocks, root } from '../docs/code-blocks.ts'

// The sizes in the guide to Cloudflare Workers. They may be a tenth off, so that not every change writes them anew.

const guide = readFileSync(join(root, 'docs/guides/cloudflare.md'), 'utf8')
const [shown = ''] = codeBlocks('docs/guides/cloudflare.md')
  .filter(({ language }) => language === 'ts')
  .map(({ code }) => code)

async function sizeOf(contents: string, folder: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: join(root, folder), loader: 'ts' },
    bundle: true,
    minify: true,
    platform: 'neutral',
    format: 'esm',
    conditions: ['@grantry/source', 'workerd', 'worker', 'import'],
    mainFields: ['module', 'main'],
    external: ['node:*'],
    alias: { '@grantry/cloudflare': join(root, 'packages/cloudflare/src/index.ts') },
    define: hashFunctionsDefine(),
    write: false,
    logLevel: 'silent',
  })
  return outputFiles.reduce((bytes, { contents: part }) => bytes + gzipSync(part, { level: 9 }).length, 0) / 1000
}

const example = readFileSync(join(root, 'examples/cloudflare-worker/worker.ts'), 'utf8')

test.each([
  ['the example', example, 'examples/cloudflare-worker'],
  ['the Worker above', shown, 'test'],
])('the guide shows the size of %s', async (name, contents, folder) => {
  const row = new RegExp(`^\\| \\[?${name}.* \\| ([\\d.]+) \\| ([\\d.]+) % \\| ([\\d.]+) % \\|$`, 'mu').exec(guide)
  const [size = 0, free, paid] = (row ?? []).slice(1).map(Number)
  const measured = await sizeOf(contents, folder)
  expect(Math.abs(size / measured - 1), `${name} has ${measured.toFixed(0)} kB`).toBeLessThan(0.1)
  expect([free, paid]).toEqual([Math.round(size / 30), Math.round(size / 100)])
})
