/** The command, held to one core of the machine: `taskset` becomes the program, so that the process is the same. */
export const onCore = (core: number, command: readonly string[]): readonly string[] => [
  'taskset',
  '-c',
  String(core),
  ...command,
]
