package seen

import "time"

// Day is a UTC day, as the number of days since 1970-01-01.
type Day int32

const secondsADay = 24 * 60 * 60

// DayOf is the UTC day of a moment.
func DayOf(t time.Time) Day {
	day := t.Unix() / secondsADay
	if t.Unix()%secondsADay < 0 {
		day--
	}
	return Day(day)
}

// Time is the day's first moment.
func (d Day) Time() time.Time { return time.Unix(int64(d)*secondsADay, 0).UTC() }

// AddDays is the day so many days later, or earlier where days is negative.
func (d Day) AddDays(days int) Day { return d + Day(days) }

// String is the day as 2025-11-21.
func (d Day) String() string { return d.Time().Format("2006-01-02") }
