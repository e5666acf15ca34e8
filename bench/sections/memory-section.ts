import { whole } from '../report/figures.ts'
import type { Section } from '../report/section.ts'
import { inProgram } from '../run/in-program.ts'
import type { Workbench } from './workbench.ts'

export interface MemoryFigures {
  readonly tokens: number
  /** Of keys and values, as they were given to the driver. */
  readonly text: number
  /** Heap, and what lies beside it. */
  readonly bytes: number
}

/** What a live reference token costs. */
export async function* memorySection({ bundles }: Workbench): AsyncGenerator<Section> {
  const { tokens, text, bytes } = await inProgram<MemoryFigures>(await bundles.bundle('programs/memory.ts'), 0)
  yield {
    title: 'Memory of a live reference token, memory driver on Node',
    notes: [`${whole(tokens)} tokens by client credentials; heap after collection, over what it was before.`],
    rows: [
      ['', 'bytes'],
      ['whole', whole(bytes / tokens)],
      ['its keys and JSON', whole(text / tokens)],
      ['over that (target: 500)', whole((bytes - text) / tokens)],
    ],
  }
}
