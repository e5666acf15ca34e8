/** Whether a text is a decimal number, as databases and directories write it: `0x10` is another number for other readers. */
export const isNumber = (text: string): boolean => /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/u.test(text)
