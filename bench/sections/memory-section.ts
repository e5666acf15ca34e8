import { whole } from '../report/figures.ts'
import type { Section } from '../report/section.ts'
import { inProgram } from '../run/in-program.ts'
import type { Workbench } from './workbench.ts'

export interface MemoryFigures {
  readonly tokens: number
  /** Length of the keys and values that the driver received. */
  readonly text: number
  /** Heap and external memory. */
  readonly bytes: number
}

/** Measures the memory of a live reference token. */
export async function* memorySection({ bundles }: Workbench): AsyncGenerator<Section> {
  const { tokens, text, bytes } = await inProgram<MemoryFigures>(await bundles.bundle('programs/memory.ts'), 0)
  yield {
    title: 'Memory of a live reference token, memory driver on Node',
    notes: [`${whole(tokens)} tokens from client credentials; growth of the heap after garbage collection.`],
    rows: [
      ['', 'bytes'],
      ['total', whole(bytes / tokens)],
      ['keys and JSON', whole(text / tokens)],
      ['overhead (target: 500)', whole((bytes - text) / tokens)],
    ],
  }
}
