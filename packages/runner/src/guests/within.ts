/** Whether something happens in time. It must not reject. */
export function within(happening: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms)
    void happening.then(() => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
