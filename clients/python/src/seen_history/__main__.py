from seen_history.command import main

main()
